package hooks

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/internal/servertest"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
)

var (
	namespaces   = corev1.SchemeGroupVersion.WithResource("namespaces")
	quotas       = corev1.SchemeGroupVersion.WithResource("resourcequotas")
	configmaps   = corev1.SchemeGroupVersion.WithResource("configmaps")
	secrets      = corev1.SchemeGroupVersion.WithResource("secrets")
	environments = schema.GroupVersionResource{Group: "platform.example.dev", Version: "v1", Resource: "environments"}
)

// TestInitializer: a project waits for the controller, has what it makes when it is ready,
// and the account of the controller gets at no more than that, and not for longer.
func TestInitializer(t *testing.T) {
	w := newWorld(t, "initializer/type.yaml")
	// Before the controller is there, and while it is not.
	early := field(t, w.create(t, "early", "project", corev1alpha1.PhaseInitializing), "spec", "cluster")
	w.permitted(t)
	for name, resource := range map[string]schema.GroupVersionResource{"secrets": secrets, "namespaces": namespaces} {
		_, err := newClient(t, w.through(t, "initializer", "initializingworkspaces", "project", early), resource, "").List(t.Context(), metav1.ListOptions{})
		if !apierrors.IsForbidden(err) {
			t.Errorf("the controller may list %s, of which the type says nothing: %v", name, err)
		}
	}
	if _, err := newClient(t, w.through(t, "initializer", "terminatingworkspaces", "project", "*"), logicalclusters, "").
		List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("the account may act as a terminator: %v", err)
	}
	// Some of the work was done by a controller that did not come to the end of it.
	_, err := w.at(t, early, namespaces, "").Create(t.Context(), object("v1", "Namespace", "work"), metav1.CreateOptions{})
	must(t, err)

	stop := w.controller(t, "initializer")
	w.await(t, "early", corev1alpha1.PhaseReady)
	w.prepared(t, early)
	late := field(t, w.create(t, "late", "project", corev1alpha1.PhaseReady), "spec", "cluster")
	w.prepared(t, late)
	stop()

	// All LogicalClusters have the same name, and none may be taken for another.
	var between []string
	for _, name := range []string{"between", "besides", "behind"} {
		between = append(between, field(t, w.create(t, name, "project", corev1alpha1.PhaseInitializing), "spec", "cluster"))
	}
	w.controller(t, "initializer")
	for i, name := range []string{"between", "besides", "behind"} {
		w.await(t, name, corev1alpha1.PhaseReady)
		w.prepared(t, between[i])
	}
}

// permitted waits until the policy in the manifests is in force.
func (w *world) permitted(t *testing.T) {
	t.Helper()
	servertest.Eventually(t, "the account may act as the initializer", func() (bool, any) {
		_, err := newClient(t, w.through(t, "initializer", "initializingworkspaces", "project", "*"), logicalclusters, "").
			List(t.Context(), metav1.ListOptions{})
		return err == nil, err
	})
}

// prepared checks that a project has all it begins with, and that the controller has left.
func (w *world) prepared(t *testing.T, cluster string) {
	t.Helper()
	quota, err := w.at(t, cluster, quotas, "work").Get(t.Context(), "project", metav1.GetOptions{})
	must(t, err)
	if hard := field(t, quota, "spec", "hard", "count/configmaps"); hard != "10" {
		t.Errorf("a project may have %q ConfigMaps", hard)
	}
	binding, err := w.at(t, cluster, apisv1alpha2.GroupVersion.WithResource("apibindings"), "").Get(t.Context(), "environments", metav1.GetOptions{})
	must(t, err)
	if phase := field(t, binding, "status", "phase"); phase != string(apisv1alpha2.APIBindingPhaseBound) {
		t.Errorf("the binding is %s in a project that is ready", phase)
	}
	_, err = w.at(t, cluster, environments, "work").Create(t.Context(), object("platform.example.dev/v1", "Environment", "test"), metav1.CreateOptions{})
	must(t, err)

	_, err = newClient(t, w.through(t, "initializer", "initializingworkspaces", "project", cluster), namespaces, "").
		Create(t.Context(), object("v1", "Namespace", "afterwards"), metav1.CreateOptions{})
	if !apierrors.IsForbidden(err) {
		t.Errorf("the controller writes in a project that does not wait for it: %v", err)
	}
	_, err = newClient(t, w.inside(t, "initializer", cluster), namespaces, "").List(t.Context(), metav1.ListOptions{})
	if !apierrors.IsForbidden(err) {
		t.Errorf("the account of the controller reads in a project without being asked to: %v", err)
	}
}
