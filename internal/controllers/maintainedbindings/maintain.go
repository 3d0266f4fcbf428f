package maintainedbindings

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/storage/cached"
	"github.com/forkless/kcp/internal/tenancy/defaultbindings"
	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/tenancy"
)

// lives says whether the bindings of a workspace are this controller's business: its first
// ones have been made, and it is not going. Root has bound our own APIs by itself.
func lives(cluster logicalcluster.Name, lc *corev1alpha1.LogicalCluster) bool {
	return cluster != logicalcluster.Root && lc.DeletionTimestamp.IsZero() &&
		!defaultbindings.Initializing(lc) && defaultbindings.Adopted(lc)
}

// maintain brings the default bindings of a workspace to what its type says.
func (r *reconciler) maintain(ctx context.Context, cluster logicalcluster.Name) error {
	lc, err := r.Clusters.GetCached(ctx, cluster)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil || !lives(cluster, lc) {
		return err
	}
	plan, says, err := r.plan(ctx, cluster, lc)
	if err != nil {
		return err
	}
	batch := r.Layer.NewBatch()
	if plan != nil {
		plan.AddTo(batch)
	}
	if wanted := saying(lc, says); wanted != lc {
		batch.Update(cached.LogicalClusters, cluster, wanted)
	} else if batch.Len() > 0 {
		// Nothing is put into a workspace that has gone, or begun to.
		batch.Require(cached.LogicalClusters, cluster, lc)
	}
	err = batch.Commit(ctx)
	if errors.Is(err, storage.ErrBatchConflict) {
		return apierrors.NewConflict(cached.LogicalClusters.GroupResource, cluster.String(), err)
	}
	return err
}

// plan returns what is to be done in a workspace, which is nothing if it is nil, and what
// the LogicalCluster is to say about it, nil if its bindings are not maintained.
func (r *reconciler) plan(ctx context.Context, cluster logicalcluster.Name, lc *corev1alpha1.LogicalCluster) (*defaultbindings.Plan, *conditions.Condition, error) {
	now := metav1.NewTime(r.Clock.Now()).Rfc3339Copy()
	set, err := r.Types.ResolveCluster(ctx, cluster, lc)
	if tenancy.IsUnresolved(err) {
		return nil, unresolved(lc, err, now), nil
	}
	if err != nil {
		return nil, nil, err
	}
	wanted := defaultbindings.MaintainedOf(set, cluster)
	if len(wanted) == 0 {
		return nil, nil, nil
	}
	existing, err := r.APIs.Bindings(ctx, cluster)
	if err != nil {
		return nil, nil, err
	}
	plan, err := r.Planner.Plan(ctx, defaultbindings.Input{
		Consumer: tenancy.PlaceOf(cluster, lc), Wanted: wanted, Existing: existing, Overwrite: true,
		Now: now, NewUID: uuid.NewUUID,
	})
	if err != nil {
		return nil, nil, err
	}
	says := plan.Waiting(now)
	if says == nil {
		says = &conditions.Condition{Status: corev1.ConditionTrue, LastTransitionTime: now}
	}
	says.Type = corev1alpha1.APIBindingsReconciled
	return plan, says, nil
}

// unresolved is what a LogicalCluster says whose bindings were maintained until nobody knew
// its type any more.
func unresolved(lc *corev1alpha1.LogicalCluster, err error, now metav1.Time) *conditions.Condition {
	if !conditions.Has(lc, corev1alpha1.APIBindingsReconciled) {
		return nil
	}
	return &conditions.Condition{
		Type: corev1alpha1.APIBindingsReconciled, Status: corev1.ConditionFalse, Severity: conditions.SeverityError,
		Reason: corev1alpha1.ReasonWorkspaceTypesInvalid, Message: err.Error(), LastTransitionTime: now,
	}
}

// saying returns lc with what it is to say about its bindings, nil if nothing.
func saying(lc *corev1alpha1.LogicalCluster, says *conditions.Condition) *corev1alpha1.LogicalCluster {
	wanted := lc.DeepCopy()
	if says == nil {
		conditions.Delete(wanted, corev1alpha1.APIBindingsReconciled)
	} else {
		conditions.Set(wanted, *says)
	}
	if equality.Semantic.DeepEqual(lc, wanted) {
		return lc
	}
	return wanted
}
