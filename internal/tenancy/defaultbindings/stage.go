package defaultbindings

import (
	"slices"

	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
)

// Adopted says whether a workspace says what has bound its resources: one that does not is
// of an earlier server, and had our own APIs without binding them.
func Adopted(lc *corev1alpha1.LogicalCluster) bool {
	_, ok := lc.Annotations[apisv1alpha1.ResourceBindingsAnnotationKey]
	return ok
}

// Initializing says whether a workspace still waits for its first default bindings.
func Initializing(lc *corev1alpha1.LogicalCluster) bool {
	return slices.Contains(lc.Status.Initializers, corev1alpha1.InitializerAPIBindings)
}
