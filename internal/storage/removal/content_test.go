package removal

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/utils/ptr"
)

func TestHeld(t *testing.T) {
	for name, tc := range map[string]struct {
		reason     string
		obj        runtime.Object
		finalizers []string
		want       bool
	}{
		"Free":           {reason: "nothing holds it", obj: &core.ConfigMap{}},
		"Finalizer":      {reason: "a finalizer holds it", obj: &core.ConfigMap{}, finalizers: []string{"x"}, want: true},
		"Namespace":      {reason: "its content holds it", obj: &core.Namespace{Spec: core.NamespaceSpec{Finalizers: []core.FinalizerName{core.FinalizerKubernetes}}}, want: true},
		"EmptyNamespace": {reason: "its content is gone", obj: &core.Namespace{}},
		"Definition":     {reason: "its instances have not been looked for", obj: &apiextensions.CustomResourceDefinition{}, want: true},
		"EmptyDefinition": {
			reason: "its instances are gone",
			obj:    &apiextensions.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: ptr.To(metav1.Now())}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := held(tc.obj, tc.finalizers); got != tc.want {
				t.Errorf("%s: got %v", tc.reason, got)
			}
		})
	}
}

func TestMarkContent(t *testing.T) {
	crd := &apiextensions.CustomResourceDefinition{}
	for range 2 {
		markContent(crd)
	}
	if !slices.Equal(crd.Finalizers, []string{apiextensions.CustomResourceCleanupFinalizer}) || !apiextensions.IsCRDConditionTrue(crd, apiextensions.Terminating) {
		t.Errorf("a definition waits for its instances, got %+v", crd)
	}
	namespace := &core.Namespace{}
	markContent(namespace)
	if namespace.Status.Phase != core.NamespaceTerminating {
		t.Errorf("a namespace is terminating, got %q", namespace.Status.Phase)
	}
}

func TestWithPropagation(t *testing.T) {
	before := []string{"a", metav1.FinalizerOrphanDependents, "b", metav1.FinalizerDeleteDependents}
	for propagation, want := range map[metav1.DeletionPropagation][]string{
		metav1.DeletePropagationBackground: {"a", "b"},
		metav1.DeletePropagationForeground: {"a", "b", metav1.FinalizerDeleteDependents},
		metav1.DeletePropagationOrphan:     {"a", "b", metav1.FinalizerOrphanDependents},
	} {
		if diff := cmp.Diff(want, withPropagation(before, propagation)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", propagation, diff)
		}
	}
}
