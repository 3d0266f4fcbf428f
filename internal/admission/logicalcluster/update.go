package logicalcluster

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/admission"

	"github.com/forkless/kcp/internal/admission/request"
	"github.com/forkless/kcp/internal/tenancy/phase"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
)

func validateUpdate(a admission.Attributes) error {
	lc, err := request.As[corev1alpha1.LogicalCluster](a.GetObject())
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	old, err := request.As[corev1alpha1.LogicalCluster](a.GetOldObject())
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	for _, check := range []func(admission.Attributes, *corev1alpha1.LogicalCluster, *corev1alpha1.LogicalCluster) error{
		checkSpec, checkPhase, checkInitializers, checkTerminators, checkInactive,
	} {
		if err := check(a, old, lc); err != nil {
			return err
		}
	}
	return nil
}

func checkSpec(a admission.Attributes, old, lc *corev1alpha1.LogicalCluster) error {
	if !equality.Semantic.DeepEqual(old.Spec.CreatedBy, lc.Spec.CreatedBy) {
		return request.Denied(a, "spec.createdBy is immutable")
	}
	if !set(old.Spec.Initializers).Equal(set(lc.Spec.Initializers)) {
		return request.Denied(a, "spec.initializers is immutable")
	}
	return nil
}

// order is that of the phases. There is no way back, and none out of it.
var order = []corev1alpha1.Phase{
	corev1alpha1.PhaseScheduling,
	corev1alpha1.PhaseInitializing,
	corev1alpha1.PhaseReady,
}

// checkPhase lets the phase go forward. Phases that are not in order, the empty one
// among them, are before all others. But what has been taken offline, or ends, is not
// initialized a second time: that would let the initializers in again.
func checkPhase(a admission.Attributes, old, lc *corev1alpha1.LogicalCluster) error {
	from, to := old.Status.Phase, lc.Status.Phase
	again := beginsInitializing(old, lc) && from != "" && from != corev1alpha1.PhaseScheduling
	if again || slices.Index(order, to) < slices.Index(order, from) {
		return request.Denied(a, "status.phase cannot go from %q back to %q", from, to)
	}
	return nil
}

// checkInitializers lets initializers only be removed, and only while they are
// waited for.
func checkInitializers(a admission.Attributes, old, lc *corev1alpha1.LogicalCluster) error {
	before, after := set(old.Status.Initializers), set(lc.Status.Initializers)
	isInitializing := lc.Status.Phase == corev1alpha1.PhaseInitializing
	wasInitializing := old.Status.Phase == corev1alpha1.PhaseInitializing
	switch {
	case beginsInitializing(old, lc):
		if !after.Equal(set(lc.Spec.Initializers)) {
			return request.Denied(a, "status.initializers must be those of spec.initializers when initialization begins")
		}
	case wasInitializing && isInitializing:
		if !before.IsSuperset(after) {
			return request.Denied(a, "status.initializers can only be removed, not added")
		}
	case wasInitializing:
		if len(after) > 0 {
			return request.Denied(a, "status.initializers must be empty before status.phase can be %q", lc.Status.Phase)
		}
	case !before.Equal(after):
		return request.Denied(a, "status.initializers is immutable unless status.phase is %q", corev1alpha1.PhaseInitializing)
	}
	return nil
}

// checkTerminators lets terminators only be removed. One that is added could act as who
// created the workspace once it is deleted, whoever has added it.
func checkTerminators(a admission.Attributes, old, lc *corev1alpha1.LogicalCluster) error {
	allowed := old.Status.Terminators
	if beginsInitializing(old, lc) {
		allowed = old.Spec.Terminators
	}
	if !sets.New(allowed...).IsSuperset(sets.New(lc.Status.Terminators...)) {
		return request.Denied(a, "status.terminators can only be removed, not added")
	}
	return nil
}

func checkInactive(a admission.Attributes, old, lc *corev1alpha1.LogicalCluster) error {
	isNew := phase.Inactive(lc.Annotations) && !phase.Inactive(old.Annotations)
	if isNew && old.Status.Phase != corev1alpha1.PhaseReady {
		return request.Denied(a, "annotation %s can only be set when status.phase is %q, it is %q",
			corev1alpha1.InactiveAnnotationKey, corev1alpha1.PhaseReady, old.Status.Phase)
	}
	return nil
}

func set(initializers []corev1alpha1.Initializer) sets.Set[corev1alpha1.Initializer] {
	return sets.New(initializers...)
}
