package logicalcluster

import (
	"context"
	"errors"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/storage/cached"
	"github.com/forkless/kcp/internal/tenancy/phase"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// nestedAtOnce is how many nested workspaces are deleted in one transaction, each with its
// LogicalCluster.
const nestedAtOnce = storage.MaxBatch / 2

// endNested deletes nested workspaces. What a delete request and the controller of
// workspaces would do after each other is one transaction for many; where somebody else
// writes to one of them meanwhile they go one by one.
func (r *reconciler) endNested(ctx context.Context, cluster logicalcluster.Name, all []*tenancyv1alpha1.Workspace) error {
	alive := slices.DeleteFunc(slices.Clone(all), func(ws *tenancyv1alpha1.Workspace) bool { return !ws.DeletionTimestamp.IsZero() })
	var failures []error
	for part := range slices.Chunk(alive, nestedAtOnce) {
		batch := r.Layer.NewBatch()
		for _, ws := range part {
			r.addEnd(ctx, batch, cluster, ws)
		}
		err := batch.Commit(ctx)
		if errors.Is(err, storage.ErrBatchConflict) {
			err = r.removeEach(ctx, cluster, part)
		}
		failures = append(failures, err)
	}
	return errors.Join(failures...)
}

// addEnd adds to batch what a deleted workspace is like, and its LogicalCluster if that
// is to go now.
func (r *reconciler) addEnd(ctx context.Context, batch *storage.Batch, cluster logicalcluster.Name, ws *tenancyv1alpha1.Workspace) {
	ended := ws.DeepCopy()
	r.remover().Mark(ended, ended, metav1.DeletePropagationBackground)
	inside, err := logicalcluster.ParseName(ws.Spec.Cluster)
	if err != nil {
		batch.Update(cached.Workspaces, cluster, ended)
		return
	}
	lc, err := r.Clusters.GetCached(ctx, inside)
	if err != nil {
		// Whether it is gone the controller of workspaces finds out.
		batch.Update(cached.Workspaces, cluster, ended)
		return
	}
	plan := phase.Workspace(phase.WorkspaceInput{Observed: ended, Cluster: lc, Now: r.now()})
	batch.Update(cached.Workspaces, cluster, plan.Workspace)
	if plan.Next == phase.DeleteCluster {
		batch.Update(cached.LogicalClusters, inside, phase.Deleted(lc, r.now()))
	}
}

func (r *reconciler) removeEach(ctx context.Context, cluster logicalcluster.Name, all []*tenancyv1alpha1.Workspace) error {
	var failures []error
	for _, ws := range all {
		failures = append(failures, r.remover().Remove(ctx, cluster, cached.Workspaces, ws))
	}
	return errors.Join(failures...)
}
