package logicalcluster

import (
	"context"
	"errors"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/storage/cached"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// most is how many resources are purged in one transaction, with room for other writes.
const most = storage.MaxBatch - 8

// remove purges the resources of a cluster, with those that nobody reaches any more: the
// objects of an identity that no export has. commit writes the transaction of the last of
// them, which are returned, with what it adds.
func (r *reconciler) remove(ctx context.Context, cluster logicalcluster.Name,
	resources []storage.Resource, commit func(*storage.Batch) error,
) (last []storage.Resource, err error) {
	closed, err := r.Layer.Closed(ctx)
	if err != nil {
		return nil, err
	}
	resources = inOrder(append(resources, closed...))
	before := max(0, len(resources)-most)
	if err := r.purge(ctx, cluster, resources[:before]); err != nil {
		return nil, err
	}
	batch, last := r.Layer.NewBatch(), resources[before:]
	batch.Purge(cluster, last...)
	return last, commit(batch)
}

// sweep purges once more what did not go in the last transaction, nor was opened by
// then: requests may have written there until the LogicalCluster went, but not since.
func (r *reconciler) sweep(ctx context.Context, cluster logicalcluster.Name, last []storage.Resource) error {
	return r.purgeGone(ctx, cluster, without(r.Layer.Opened(), last...))
}

// purgeGone is purge for a cluster whose LogicalCluster has gone. If there is one again, of
// the same name, nothing is removed: what is there is its own.
func (r *reconciler) purgeGone(ctx context.Context, cluster logicalcluster.Name, resources []storage.Resource) error {
	none := &corev1alpha1.LogicalCluster{ObjectMeta: metav1.ObjectMeta{Name: corev1alpha1.LogicalClusterName}}
	err := r.purge(ctx, cluster, resources, func(batch *storage.Batch) { batch.Require(cached.LogicalClusters, cluster, none) })
	if errors.Is(err, storage.ErrBatchConflict) {
		return nil
	}
	return err
}

// purge removes all keys of a cluster that belong to resources, in as many transactions
// as it takes, on the conditions that are added to each.
func (r *reconciler) purge(ctx context.Context, cluster logicalcluster.Name, resources []storage.Resource, require ...func(*storage.Batch)) error {
	for part := range slices.Chunk(resources, most) {
		batch := r.Layer.NewBatch()
		for _, add := range require {
			add(batch)
		}
		batch.Purge(cluster, part...)
		if err := batch.Commit(ctx); err != nil {
			return err
		}
	}
	return nil
}

// inOrder returns resources with those last that tell what there is. A crash between two
// transactions leaves the definitions of what is left, and the LogicalCluster, which says
// that there is more to do.
func inOrder(resources []storage.Resource) []storage.Resource {
	telling := []storage.Resource{cached.CustomResourceDefinitions, cached.APIBindings, cached.LogicalClusters}
	return slices.SortedStableFunc(slices.Values(resources), func(a, b storage.Resource) int {
		return slices.Index(telling, a) - slices.Index(telling, b)
	})
}

func without(resources []storage.Resource, others ...storage.Resource) []storage.Resource {
	return slices.DeleteFunc(slices.Clone(resources), func(r storage.Resource) bool { return slices.Contains(others, r) })
}
