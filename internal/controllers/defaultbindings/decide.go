package defaultbindings

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/forkless/kcp/internal/tenancy/defaultbindings"
	"github.com/forkless/kcp/internal/tenancy/owners"
	"github.com/forkless/kcp/internal/tenancy/phase"
	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/tenancy"
)

// unfinished says whether there is something to do about the bindings of a workspace.
func unfinished(lc *corev1alpha1.LogicalCluster) bool {
	return !defaultbindings.Adopted(lc) || defaultbindings.Initializing(lc)
}

// plan returns the bindings that a workspace lacks. It is nil if there is a problem that
// keeps anybody from knowing which these are. From then on the workspace is woken by what
// it waits for only.
func (r *reconciler) plan(ctx context.Context, cluster logicalcluster.Name, lc *corev1alpha1.LogicalCluster, now metav1.Time,
) (plan *defaultbindings.Plan, problem *conditions.Condition, err error) {
	place := tenancy.PlaceOf(cluster, lc)
	in := defaultbindings.Input{Consumer: place, Now: now, NewUID: uuid.NewUUID}
	set, err := r.Types.ResolveCluster(ctx, cluster, lc)
	switch {
	case err == nil:
		in.Wanted = defaultbindings.OfType(set, cluster)
	case !tenancy.IsUnresolved(err):
		return nil, nil, err
	case defaultbindings.Adopted(lc):
		return nil, invalidTypes(err, now), nil
	}
	if !defaultbindings.Adopted(lc) {
		// What it had without a binding it is to keep, whatever its type says.
		own, err := r.Types.Resolve(ctx, place, universal)
		if err != nil {
			return nil, nil, err
		}
		for _, wanted := range defaultbindings.OfType(own, cluster) {
			if !slices.ContainsFunc(in.Wanted, func(w defaultbindings.Wanted) bool { return w.Binding == wanted.Binding }) {
				in.Wanted = append(in.Wanted, wanted)
			}
		}
	} else if lc.Spec.CreatedBy != nil {
		in.Who = owners.User(lc.Spec.CreatedBy)
	}
	r.waiting.add(cluster, interestIn(set, in.Wanted))
	if in.Existing, err = r.APIs.CurrentBindings(ctx, cluster); err != nil {
		return nil, nil, err
	}
	plan, err = r.Planner.Plan(ctx, in)
	return plan, nil, err
}

// universal is the type that has our own APIs.
var universal = tenancyv1alpha1.WorkspaceTypeReference{Path: logicalcluster.Root.String(), Name: tenancy.UniversalType}

func invalidTypes(err error, now metav1.Time) *conditions.Condition {
	return &conditions.Condition{
		Type: corev1alpha1.APIBindingsInitialized, Status: corev1.ConditionFalse, Severity: conditions.SeverityError,
		Reason: corev1alpha1.ReasonWorkspaceTypesInvalid, Message: err.Error(), LastTransitionTime: now.Rfc3339Copy(),
	}
}

// conclude returns lc as it has to be when waits, which may be nothing, is what its
// default bindings wait for.
func conclude(lc *corev1alpha1.LogicalCluster, waits *conditions.Condition, now metav1.Time) *corev1alpha1.LogicalCluster {
	if !defaultbindings.Initializing(lc) {
		return lc
	}
	wanted := lc.DeepCopy()
	if waits != nil {
		conditions.Set(wanted, *waits)
	} else {
		conditions.Delete(wanted, corev1alpha1.APIBindingsInitialized)
		wanted.Status.Initializers = slices.DeleteFunc(wanted.Status.Initializers, func(i corev1alpha1.Initializer) bool {
			return i == corev1alpha1.InitializerAPIBindings
		})
	}
	next := phase.LogicalCluster(phase.LogicalClusterInput{Observed: wanted, Now: now})
	if equality.Semantic.DeepEqual(lc, next) {
		return lc
	}
	return next
}
