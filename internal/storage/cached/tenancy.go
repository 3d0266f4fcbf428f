package cached

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/forkless/kcp/internal/storage"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// LogicalClusterReader reads LogicalClusters.
type LogicalClusterReader struct {
	layer  *storage.Layer
	reader *storage.Reader[corev1alpha1.LogicalCluster, *corev1alpha1.LogicalCluster, *corev1alpha1.LogicalClusterList]
}

// NewLogicalClusterReader returns a reader over layer.
func NewLogicalClusterReader(layer *storage.Layer) LogicalClusterReader {
	return LogicalClusterReader{layer: layer, reader: storage.NewReader[corev1alpha1.LogicalCluster](layer, LogicalClusters,
		func() *corev1alpha1.LogicalClusterList { return &corev1alpha1.LogicalClusterList{} },
		func(l *corev1alpha1.LogicalClusterList) []corev1alpha1.LogicalCluster { return l.Items })}
}

// Get returns the LogicalCluster of a cluster, or a NotFound Status error. That there is
// none is not believed to the watch cache: clients use a workspace as soon as they have
// read that it is ready, which may be before the cache has seen it.
func (r LogicalClusterReader) Get(ctx context.Context, cluster logicalcluster.Name) (*corev1alpha1.LogicalCluster, error) {
	lc, err := r.GetCached(ctx, cluster)
	if apierrors.IsNotFound(err) {
		return r.GetCurrent(ctx, cluster)
	}
	return lc, err
}

// GetCached is Get from the watch cache alone.
func (r LogicalClusterReader) GetCached(ctx context.Context, cluster logicalcluster.Name) (*corev1alpha1.LogicalCluster, error) {
	return r.reader.Get(ctx, cluster, "", corev1alpha1.LogicalClusterName)
}

// GetCurrent is Get from etcd instead of the watch cache.
func (r LogicalClusterReader) GetCurrent(ctx context.Context, cluster logicalcluster.Name) (*corev1alpha1.LogicalCluster, error) {
	return r.reader.GetCurrent(ctx, cluster, "", corev1alpha1.LogicalClusterName)
}

// Update writes lc, or returns a Conflict Status error if it has changed or is gone.
func (r LogicalClusterReader) Update(ctx context.Context, cluster logicalcluster.Name, lc *corev1alpha1.LogicalCluster) error {
	batch := r.layer.NewBatch()
	batch.Update(LogicalClusters, cluster, lc)
	err := batch.Commit(ctx)
	if errors.Is(err, storage.ErrBatchConflict) {
		return apierrors.NewConflict(LogicalClusters.GroupResource, lc.Name, err)
	}
	return err
}

// List returns the LogicalClusters of all clusters.
func (r LogicalClusterReader) List(ctx context.Context) ([]corev1alpha1.LogicalCluster, error) {
	return r.reader.List(ctx, logicalcluster.Wildcard, "")
}

// WorkspaceReader reads Workspaces.
type WorkspaceReader struct {
	reader *storage.Reader[tenancyv1alpha1.Workspace, *tenancyv1alpha1.Workspace, *tenancyv1alpha1.WorkspaceList]
}

// NewWorkspaceReader returns a reader over layer.
func NewWorkspaceReader(layer *storage.Layer) WorkspaceReader {
	return WorkspaceReader{storage.NewReader[tenancyv1alpha1.Workspace](layer, Workspaces,
		func() *tenancyv1alpha1.WorkspaceList { return &tenancyv1alpha1.WorkspaceList{} },
		func(l *tenancyv1alpha1.WorkspaceList) []tenancyv1alpha1.Workspace { return l.Items })}
}

// Get returns a Workspace of a cluster, or a NotFound Status error.
func (r WorkspaceReader) Get(ctx context.Context, cluster logicalcluster.Name, name string) (*tenancyv1alpha1.Workspace, error) {
	return r.reader.Get(ctx, cluster, "", name)
}

// GetCurrent is Get from etcd instead of the watch cache.
func (r WorkspaceReader) GetCurrent(ctx context.Context, cluster logicalcluster.Name, name string) (*tenancyv1alpha1.Workspace, error) {
	return r.reader.GetCurrent(ctx, cluster, "", name)
}

// List returns the Workspaces of a cluster, or of all for the wildcard.
func (r WorkspaceReader) List(ctx context.Context, cluster logicalcluster.Name) ([]tenancyv1alpha1.Workspace, error) {
	return r.reader.List(ctx, cluster, "")
}

// WorkspaceTypeReader reads WorkspaceTypes.
type WorkspaceTypeReader struct {
	reader *storage.Reader[tenancyv1alpha1.WorkspaceType, *tenancyv1alpha1.WorkspaceType, *tenancyv1alpha1.WorkspaceTypeList]
}

// NewWorkspaceTypeReader returns a reader over layer.
func NewWorkspaceTypeReader(layer *storage.Layer) WorkspaceTypeReader {
	return WorkspaceTypeReader{storage.NewReader[tenancyv1alpha1.WorkspaceType](layer, WorkspaceTypes,
		func() *tenancyv1alpha1.WorkspaceTypeList { return &tenancyv1alpha1.WorkspaceTypeList{} },
		func(l *tenancyv1alpha1.WorkspaceTypeList) []tenancyv1alpha1.WorkspaceType { return l.Items })}
}

// Get returns a WorkspaceType of a cluster, or a NotFound Status error.
func (r WorkspaceTypeReader) Get(ctx context.Context, cluster logicalcluster.Name, name string) (*tenancyv1alpha1.WorkspaceType, error) {
	return r.reader.Get(ctx, cluster, "", name)
}

// GetCurrent is Get from etcd instead of the watch cache.
func (r WorkspaceTypeReader) GetCurrent(ctx context.Context, cluster logicalcluster.Name, name string) (*tenancyv1alpha1.WorkspaceType, error) {
	return r.reader.GetCurrent(ctx, cluster, "", name)
}

// List returns the WorkspaceTypes of a cluster.
func (r WorkspaceTypeReader) List(ctx context.Context, cluster logicalcluster.Name) ([]tenancyv1alpha1.WorkspaceType, error) {
	return r.reader.List(ctx, cluster, "")
}

// ShardReader reads Shards, which live in root.
type ShardReader struct {
	reader *storage.Reader[corev1alpha1.Shard, *corev1alpha1.Shard, *corev1alpha1.ShardList]
}

// NewShardReader returns a reader over layer.
func NewShardReader(layer *storage.Layer) ShardReader {
	return ShardReader{storage.NewReader[corev1alpha1.Shard](layer, Shards,
		func() *corev1alpha1.ShardList { return &corev1alpha1.ShardList{} },
		func(l *corev1alpha1.ShardList) []corev1alpha1.Shard { return l.Items })}
}

// List returns all Shards.
func (r ShardReader) List(ctx context.Context) ([]corev1alpha1.Shard, error) {
	return r.reader.List(ctx, logicalcluster.Root, "")
}

// Get returns a Shard, or a NotFound Status error. That there is none is not believed to the
// watch cache: whole workspaces depend on it.
func (r ShardReader) Get(ctx context.Context, name string) (*corev1alpha1.Shard, error) {
	shard, err := r.reader.Get(ctx, logicalcluster.Root, "", name)
	if apierrors.IsNotFound(err) {
		return r.reader.GetCurrent(ctx, logicalcluster.Root, "", name)
	}
	return shard, err
}
