package limits

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/forkless/kcp/internal/servertest"
)

// clients is how many create objects at the same time.
const clients = 50

var (
	definitions     = apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions")
	logicalClusters = schema.GroupVersionResource{Group: "core.kcp.io", Version: "v1alpha1", Resource: "logicalclusters"}
	bindings        = schema.GroupVersionResource{Group: "apis.kcp.io", Version: "v1alpha2", Resource: "apibindings"}
	workspaces      = schema.GroupVersionResource{Group: "tenancy.kcp.io", Version: "v1alpha1", Resource: "workspaces"}
	widgets         = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}
)

// workspace is a workspace and its clients.
type workspace struct {
	t testing.TB
	kubernetes.Interface
	dynamic dynamic.Interface
	cluster string
}

// workspaceOf makes a workspace below root.
func workspaceOf(t testing.TB, s *servertest.Server) workspace {
	t.Helper()
	return in(t, s, s.Workspace(t, "root", "").Spec.Cluster)
}

// in returns the clients of a workspace.
func in(t testing.TB, s *servertest.Server, cluster string) workspace {
	t.Helper()
	config := s.In(t, "base", cluster)
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	dyn, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return workspace{t: t, Interface: kube, dynamic: dyn, cluster: cluster}
}

func (w workspace) namespace(name string) {
	w.t.Helper()
	_, err := w.CoreV1().Namespaces().Create(w.t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	ok(w.t, err)
}

func (w workspace) secret(namespace, name string) error {
	_, err := w.CoreV1().Secrets(namespace).Create(w.t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	return err
}

func (w workspace) removeSecret(namespace, name string) {
	w.t.Helper()
	ok(w.t, w.CoreV1().Secrets(namespace).Delete(w.t.Context(), name, metav1.DeleteOptions{}))
}

// define defines widgets.
func (w workspace) define() {
	w.t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: widgets.GroupResource().String()},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: widgets.Group, Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: widgets.Resource, Kind: "Widget"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: widgets.Version, Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"}},
			}},
		},
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(crd)
	ok(w.t, err)
	delete(content, "status")
	object := &unstructured.Unstructured{Object: content}
	object.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	_, err = w.dynamic.Resource(definitions).Create(w.t.Context(), object, metav1.CreateOptions{})
	ok(w.t, err)
	servertest.Eventually(w.t, "widgets are served", func() (bool, any) {
		_, err := w.dynamic.Resource(widgets).List(w.t.Context(), metav1.ListOptions{})
		return err == nil, err
	})
}

// undefine removes the definition of widgets, and with it all of them.
func (w workspace) undefine() {
	w.t.Helper()
	ok(w.t, w.dynamic.Resource(definitions).Delete(w.t.Context(), widgets.GroupResource().String(), metav1.DeleteOptions{}))
	servertest.Eventually(w.t, "the definition is gone", func() (bool, any) {
		_, err := w.dynamic.Resource(definitions).Get(w.t.Context(), widgets.GroupResource().String(), metav1.GetOptions{})
		return apierrors.IsNotFound(err), err
	})
}

func (w workspace) widget(namespace, name string) error {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetGroupVersionKind(widgets.GroupVersion().WithKind("Widget"))
	object.SetName(name)
	_, err := w.dynamic.Resource(widgets).Namespace(namespace).Create(w.t.Context(), object, metav1.CreateOptions{})
	return err
}

// child makes a workspace in this one and does not wait until it is ready.
func (w workspace) child(name string) error {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetGroupVersionKind(workspaces.GroupVersion().WithKind("Workspace"))
	object.SetName(name)
	_, err := w.dynamic.Resource(workspaces).Create(w.t.Context(), object, metav1.CreateOptions{})
	return err
}

// readyChild waits until a workspace in this one is ready, and returns its cluster.
func (w workspace) readyChild(name string) (cluster string) {
	w.t.Helper()
	servertest.Eventually(w.t, "workspace "+name+" is ready", func() (bool, any) {
		got, err := w.dynamic.Resource(workspaces).Get(w.t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		phase, _, _ := unstructured.NestedString(got.Object, "status", "phase")
		cluster, _, _ = unstructured.NestedString(got.Object, "spec", "cluster")
		return phase == "Ready", got.Object["status"]
	})
	return cluster
}

// together lets many create objects at the same time, and returns how many could. The
// others are refused with a text that contains refusal.
func together(t testing.TB, create func(name string) error, refusal string) int64 {
	t.Helper()
	var created atomic.Int64
	var wait sync.WaitGroup
	for i := range clients {
		wait.Go(func() {
			switch err := create(fmt.Sprint("together-", i)); {
			case err == nil:
				created.Add(1)
			case !refused(err, refusal):
				t.Errorf("creating one of %d objects: got error %v, want Forbidden with %q", clients, err, refusal)
			}
		})
	}
	wait.Wait()
	return created.Load()
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// hard are the limits of a quota, given as key and number.
func hard(limits map[corev1.ResourceName]int64) corev1.ResourceQuotaSpec {
	spec := corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{}}
	for name, limit := range limits {
		spec.Hard[name] = *resource.NewQuantity(limit, resource.DecimalSI)
	}
	return spec
}
