package logicalcluster

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/storage/cached"
	"github.com/forkless/kcp/internal/tenancy/phase"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// end takes a cluster that is being deleted one round further.
func (r *reconciler) end(ctx context.Context, cluster logicalcluster.Name, lc *corev1alpha1.LogicalCluster) error {
	resources, err := r.resources(ctx, cluster)
	if err != nil {
		return err
	}
	content, err := r.empty(ctx, cluster)
	if err != nil {
		return err
	}
	wanted := phase.LogicalCluster(phase.LogicalClusterInput{Observed: lc, Content: content, Now: r.now()})
	switch {
	case !content.Gone():
		if wanted != lc {
			batch := r.Layer.NewBatch()
			batch.Update(cached.LogicalClusters, cluster, wanted)
			if err := batch.Commit(ctx); err != nil {
				return err
			}
		}
		return controller.After(lookAgain)
	case len(wanted.Finalizers) > 0:
		// Terminators or somebody else's finalizers keep the LogicalCluster itself.
		_, err := r.remove(ctx, cluster, without(resources, cached.LogicalClusters), func(batch *storage.Batch) error {
			if wanted != lc {
				batch.Update(cached.LogicalClusters, cluster, wanted)
			}
			return nil
		})
		return err
	default:
		defer r.Cut(cluster)
		last, err := r.remove(ctx, cluster, resources, func(batch *storage.Batch) error {
			batch.Require(cached.LogicalClusters, cluster, lc)
			return r.release(ctx, batch, cluster, lc)
		})
		if err != nil {
			return err
		}
		return r.sweep(ctx, cluster, last)
	}
}

// most is how many resources are purged in one transaction, with room for other writes.
const most = storage.MaxBatch - 8

// remove purges the resources of a cluster. What also adds is written in the
// transaction of the last of them, which are returned.
func (r *reconciler) remove(ctx context.Context, cluster logicalcluster.Name,
	resources []storage.Resource, also func(*storage.Batch) error,
) (last []storage.Resource, err error) {
	resources = inOrder(resources)
	before := max(0, len(resources)-most)
	if err := r.purge(ctx, cluster, resources[:before]); err != nil {
		return nil, err
	}
	batch, last := r.Layer.NewBatch(), resources[before:]
	batch.Purge(cluster, last...)
	if err := also(batch); err != nil {
		return nil, err
	}
	return last, batch.Commit(ctx)
}

// sweep purges once more what did not go in the last transaction, nor was opened by
// then: requests may have written there until the LogicalCluster went, but not since.
func (r *reconciler) sweep(ctx context.Context, cluster logicalcluster.Name, last []storage.Resource) error {
	return r.purge(ctx, cluster, slices.DeleteFunc(r.Layer.Opened(), func(resource storage.Resource) bool {
		return slices.Contains(last, resource)
	}))
}

// purge removes all keys of a cluster that belong to resources, in as many transactions
// as it takes.
func (r *reconciler) purge(ctx context.Context, cluster logicalcluster.Name, resources []storage.Resource) error {
	for part := range slices.Chunk(resources, most) {
		batch := r.Layer.NewBatch()
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

// release lets the Workspace of a cluster go, which the cluster was kept for.
func (r *reconciler) release(ctx context.Context, batch *storage.Batch, cluster logicalcluster.Name, lc *corev1alpha1.LogicalCluster) error {
	owner := lc.Spec.Owner
	if owner == nil {
		return nil
	}
	parent, err := logicalcluster.ParseName(owner.Cluster)
	if err != nil {
		return nil //nolint:nilerr // an owner that cannot be found has nothing to be let go
	}
	ws, err := r.Workspaces.Get(ctx, parent, owner.Name)
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return err
	case ws.UID != owner.UID || ws.Spec.Cluster != cluster.String() || ws.DeletionTimestamp.IsZero():
		return nil
	}
	kept := slices.DeleteFunc(slices.Clone(ws.Finalizers), func(f string) bool { return f == corev1alpha1.LogicalClusterFinalizer })
	if len(kept) == 0 {
		batch.Delete(cached.Workspaces, parent, ws)
		return nil
	}
	// The workspace controller says the rest when it sees that the cluster is gone.
	return nil
}

// resources returns all resources that the cluster may have objects of.
func (r *reconciler) resources(ctx context.Context, cluster logicalcluster.Name) ([]storage.Resource, error) {
	if err := r.OpenStores(ctx, cluster); err != nil {
		return nil, err
	}
	return r.Layer.Opened(), nil
}

func without(resources []storage.Resource, resource storage.Resource) []storage.Resource {
	return slices.DeleteFunc(slices.Clone(resources), func(r storage.Resource) bool { return r == resource })
}
