package logicalcluster

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/storage/cached"
	"github.com/forkless/kcp/internal/tenancy/phase"
	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

const (
	// A cluster that waits is looked at so much later than something in it has changed as
	// many times as long the look takes, within bounds: one with many nested workspaces
	// hears of a change thousands of times.
	paceFactor       = 10
	soonest, slowest = 20 * time.Millisecond, time.Second

	// lookAgain is how often it is looked at if nothing is heard of it, and retry where
	// something could not be deleted.
	lookAgain = 30 * time.Second
	retry     = time.Second

	// tellEvery is how often at most what is left of the content is written down anew.
	tellEvery = time.Second
)

// end takes a cluster that is being deleted one round further.
func (r *reconciler) end(ctx context.Context, cluster logicalcluster.Name, lc *corev1alpha1.LogicalCluster) error {
	began := r.Clock.Now()
	resources, err := r.resources(ctx, cluster)
	if err != nil {
		return err
	}
	f, err := r.look(ctx, cluster, lc)
	if err != nil {
		return err
	}
	took := r.Clock.Since(began)
	if !f.Gone() {
		r.empty(ctx, cluster, f)
	}
	wanted := phase.LogicalCluster(phase.LogicalClusterInput{Observed: lc, Content: &f.Content, Now: r.now()})
	switch {
	case !f.Gone():
		return r.await(ctx, cluster, lc, wanted, f, took)
	case len(wanted.Finalizers) > 0:
		// Terminators or somebody else's finalizers keep the LogicalCluster itself.
		if err := r.clear(ctx, cluster, lc, wanted, resources, f); err != nil {
			return err
		}
		return r.wait(cluster, f, took)
	default:
		return r.finish(ctx, cluster, lc, resources)
	}
}

// await writes down what holds a cluster that is not empty.
func (r *reconciler) await(ctx context.Context, cluster logicalcluster.Name, lc, wanted *corev1alpha1.LogicalCluster, f *found, took time.Duration) error {
	if left := untilTold(lc, wanted, r.now()); left > 0 {
		r.waiting.add(cluster, pace(took))
		return controller.After(left)
	}
	if err := r.update(ctx, cluster, lc, wanted, r.Layer.NewBatch()); err != nil {
		return err
	}
	return r.wait(cluster, f, took)
}

// untilTold returns for how long the difference between lc and wanted need not be written:
// counts of what is left change all the time while it goes.
func untilTold(lc, wanted *corev1alpha1.LogicalCluster, now metav1.Time) time.Duration {
	told, ok := conditions.Get(lc, corev1alpha1.WorkspaceContentDeleted)
	left := tellEvery - now.Sub(told.LastTransitionTime.Time)
	if !ok || left <= 0 || wanted == lc {
		return 0
	}
	same := wanted.DeepCopy()
	conditions.Set(same, told)
	if !equality.Semantic.DeepEqual(same, lc) {
		return 0
	}
	return min(left, tellEvery)
}

// wait returns when to look at a cluster that waits.
func (r *reconciler) wait(cluster logicalcluster.Name, f *found, took time.Duration) error {
	switch isNew := r.waiting.add(cluster, pace(took)); {
	case isNew:
		// What has changed since the look was not heard.
		return controller.After(pace(took))
	case f.Failure != "":
		return controller.After(retry)
	default:
		return controller.After(lookAgain)
	}
}

func pace(took time.Duration) time.Duration { return min(max(paceFactor*took, soonest), slowest) }

// update commits batch with the LogicalCluster as wanted. Whoever is connected when the
// last terminator is done has nothing to do there any more, and is cut off.
func (r *reconciler) update(ctx context.Context, cluster logicalcluster.Name, lc, wanted *corev1alpha1.LogicalCluster, batch *storage.Batch) error {
	if wanted != lc {
		batch.Update(cached.LogicalClusters, cluster, wanted)
	}
	if err := batch.Commit(ctx); err != nil {
		return err
	}
	if wanted.Status.Phase == corev1alpha1.PhaseDeleting && lc.Status.Phase != corev1alpha1.PhaseDeleting {
		r.Cut(cluster)
	}
	return nil
}

// spared are what stays for terminators when all else is gone: without its policy whoever
// acts for the owner of the workspace may do nothing in it.
var spared = []storage.Resource{cached.ClusterRoles, cached.ClusterRoleBindings}

// clear removes everything from a cluster in which nothing is held, but not the
// LogicalCluster, nor what its terminators need.
func (r *reconciler) clear(ctx context.Context, cluster logicalcluster.Name, lc, wanted *corev1alpha1.LogicalCluster,
	resources []storage.Resource, f *found,
) error {
	stays := []storage.Resource{cached.LogicalClusters}
	if len(wanted.Status.Terminators) > 0 {
		stays = append(stays, spared...)
	}
	left := 0
	for resource, n := range f.objects {
		if !slices.Contains(stays, resource) {
			left += n
		}
	}
	if left == 0 {
		return r.update(ctx, cluster, lc, wanted, r.Layer.NewBatch())
	}
	_, err := r.remove(ctx, cluster, without(resources, stays...), func(batch *storage.Batch) error {
		return r.update(ctx, cluster, lc, wanted, batch)
	})
	return err
}

// finish removes everything from a cluster, and its Workspace.
func (r *reconciler) finish(ctx context.Context, cluster logicalcluster.Name, lc *corev1alpha1.LogicalCluster, resources []storage.Resource) error {
	defer r.Cut(cluster)
	last, err := r.remove(ctx, cluster, resources, func(batch *storage.Batch) error {
		batch.Require(cached.LogicalClusters, cluster, lc)
		if err := r.release(ctx, batch, cluster, lc); err != nil {
			return err
		}
		return batch.Commit(ctx)
	})
	if err != nil {
		return err
	}
	r.waiting.over(cluster)
	return r.sweep(ctx, cluster, last)
}

// forget removes what is left of a cluster whose LogicalCluster has gone without us. It
// goes with its last finalizer if that is taken off by somebody else, and there may have
// been writes since all was gone.
func (r *reconciler) forget(ctx context.Context, cluster logicalcluster.Name) error {
	if !r.waiting.has(cluster) {
		return nil
	}
	r.waiting.over(cluster)
	r.Cut(cluster)
	return r.purgeGone(ctx, cluster, inOrder(r.Layer.Opened()))
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
