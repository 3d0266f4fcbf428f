package phase

import (
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/internal/tenancy/owners"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

// trimmed says whether objects in a phase no longer need the whole of their owner.
func trimmed(phase corev1alpha1.Phase) bool { return phase == corev1alpha1.PhaseReady }

// syncPhase makes label and owner annotation go with the phase.
func syncPhase(object metav1.Object, phase corev1alpha1.Phase) {
	setLabel(object, tenancyv1alpha1.PhaseLabelKey, string(phase))
	annotations := object.GetAnnotations()
	if owner, ok := annotations[tenancyv1alpha1.OwnerAnnotationKey]; ok && trimmed(phase) {
		annotations[tenancyv1alpha1.OwnerAnnotationKey] = owners.Trim(owner)
		object.SetAnnotations(annotations)
	}
}

// SyncLabels makes the labels of initializers and terminators those of the status,
// by which they find the logical clusters that wait for them. It changes lc.
func SyncLabels(lc *corev1alpha1.LogicalCluster) {
	maps.DeleteFunc(lc.Labels, func(key, _ string) bool {
		return strings.HasPrefix(key, corev1alpha1.InitializerLabelPrefix) || strings.HasPrefix(key, corev1alpha1.TerminatorLabelPrefix)
	})
	for _, initializer := range lc.Status.Initializers {
		key, value := corev1alpha1.InitializerLabel(initializer)
		setLabel(lc, key, value)
	}
	for _, terminator := range lc.Status.Terminators {
		key, value := corev1alpha1.TerminatorLabel(terminator)
		setLabel(lc, key, value)
	}
}

func setLabel(object metav1.Object, key, value string) {
	labels := object.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[key] = value
	object.SetLabels(labels)
}

func addFinalizer(object metav1.Object, finalizer string) {
	if finalizers := object.GetFinalizers(); !slices.Contains(finalizers, finalizer) {
		object.SetFinalizers(append(finalizers, finalizer))
	}
}

func removeFinalizer(object metav1.Object, finalizer string) {
	kept := slices.DeleteFunc(object.GetFinalizers(), func(f string) bool { return f == finalizer })
	if len(kept) == 0 {
		kept = nil
	}
	object.SetFinalizers(kept)
}
