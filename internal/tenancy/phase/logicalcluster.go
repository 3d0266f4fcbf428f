package phase

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
)

// LogicalClusterInput is what is known of a logical cluster.
type LogicalClusterInput struct {
	// Observed is the LogicalCluster as stored. It is not changed.
	Observed *corev1alpha1.LogicalCluster

	// URL is what status.URL should be; empty leaves it as it is.
	URL string

	// Content is what is left in a logical cluster that is being deleted; nil if nobody
	// has looked yet. Where it is Gone, and there are no terminators, the finalizer that
	// guards the content is dropped: everything else is to be removed with that write.
	Content *Content

	// Now is the time of conditions that change.
	Now metav1.Time
}

// LogicalCluster returns the LogicalCluster as it should be.
func LogicalCluster(in LogicalClusterInput) *corev1alpha1.LogicalCluster {
	lc := in.Observed.DeepCopy()
	if in.URL != "" {
		lc.Status.URL = in.URL
	}
	if lc.DeletionTimestamp.IsZero() {
		live(lc, in.Now)
	} else {
		die(lc, in)
	}
	forgetRecords(lc)
	SyncLabels(lc)
	syncPhase(lc, lc.Status.Phase)
	if equality.Semantic.DeepEqual(in.Observed, lc) {
		return in.Observed
	}
	return lc
}

// live takes every step towards Ready that can be taken.
func live(lc *corev1alpha1.LogicalCluster, now metav1.Time) {
	if lc.Status.Phase == "" || lc.Status.Phase == corev1alpha1.PhaseScheduling {
		// What is there has its place.
		StartInitializing(lc)
	}
	addFinalizer(lc, corev1alpha1.DeletionFinalizer)
	syncTerminatorsFinalizer(lc)

	switch lc.Status.Phase {
	case corev1alpha1.PhaseInitializing:
		conditions.Set(lc, initialized(lc, now))
		if len(lc.Status.Initializers) == 0 {
			lc.Status.Phase = readyOrInactive(lc)
		}
	case corev1alpha1.PhaseReady, corev1alpha1.PhaseInactive:
		lc.Status.Phase = readyOrInactive(lc)
	}
}

// StartInitializing takes lc to Initializing: its status begins with the initializers
// and terminators of the spec. It changes lc.
func StartInitializing(lc *corev1alpha1.LogicalCluster) {
	lc.Status.Phase = corev1alpha1.PhaseInitializing
	lc.Status.Initializers = slices.Clone(lc.Spec.Initializers)
	lc.Status.Terminators = slices.Clone(lc.Spec.Terminators)
}

// Deleted returns lc as it is when it has been asked to go.
func Deleted(lc *corev1alpha1.LogicalCluster, now metav1.Time) *corev1alpha1.LogicalCluster {
	deleted := lc.DeepCopy()
	deleted.DeletionTimestamp, deleted.DeletionGracePeriodSeconds = &now, new(int64)
	return deleted
}

// die takes the steps of a logical cluster that is being deleted. Terminators and the
// content are waited for independently of each other, but what guards the content stays
// until both are done: terminators need the policy of the workspace.
func die(lc *corev1alpha1.LogicalCluster, in LogicalClusterInput) {
	lc.Status.Phase = dying(lc.Status.Terminators)
	syncTerminatorsFinalizer(lc)
	tellTerminators(lc, in.Now)
	tellClusterHolders(lc, in.Now)
	if in.Content == nil {
		return
	}
	condition := in.Content.Condition()
	condition.LastTransitionTime = in.Now
	conditions.Set(lc, condition)
	switch {
	case !in.Content.Gone():
		// Something may have been put there after all was gone.
		addFinalizer(lc, corev1alpha1.DeletionFinalizer)
	case len(lc.Status.Terminators) == 0:
		removeFinalizer(lc, corev1alpha1.DeletionFinalizer)
	}
}

// tellTerminators says which terminators are waited for, and once they are done that none
// are. A logical cluster that never had any has nothing to say about them.
func tellTerminators(lc *corev1alpha1.LogicalCluster, now metav1.Time) {
	if len(lc.Status.Terminators) > 0 || conditions.Has(lc, corev1alpha1.WorkspaceTerminated) {
		conditions.Set(lc, terminated(lc, now))
	}
}

// dying returns the phase of what is being deleted.
func dying(terminators []corev1alpha1.Terminator) corev1alpha1.Phase {
	if len(terminators) > 0 {
		return corev1alpha1.PhaseTerminating
	}
	return corev1alpha1.PhaseDeleting
}

// syncTerminatorsFinalizer keeps the LogicalCluster while there are terminators. An
// object that is being deleted can get no finalizer any more.
func syncTerminatorsFinalizer(lc *corev1alpha1.LogicalCluster) {
	switch {
	case len(lc.Status.Terminators) == 0:
		removeFinalizer(lc, corev1alpha1.TerminatorsFinalizer)
	case lc.DeletionTimestamp.IsZero():
		addFinalizer(lc, corev1alpha1.TerminatorsFinalizer)
	}
}

func readyOrInactive(lc *corev1alpha1.LogicalCluster) corev1alpha1.Phase {
	if Inactive(lc.Annotations) {
		return corev1alpha1.PhaseInactive
	}
	return corev1alpha1.PhaseReady
}

// Inactive says whether annotations, those of a LogicalCluster, take it offline.
func Inactive(annotations map[string]string) bool {
	return annotations[corev1alpha1.InactiveAnnotationKey] == corev1alpha1.InactiveAnnotationValue ||
		annotations[corev1alpha1.LegacyInactiveAnnotationKey] == corev1alpha1.InactiveAnnotationValue
}
