package identity

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/forkless/kcp/internal/servertest"
	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/apis/conditions"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

var (
	exports    = apisv1alpha2.GroupVersion.WithResource("apiexports")
	secrets    = corev1.SchemeGroupVersion.WithResource("secrets")
	namespaces = corev1.SchemeGroupVersion.WithResource("namespaces")
	workspaces = tenancyv1alpha1.GroupVersion.WithResource("workspaces")
)

// workspace is a workspace as one user sees it.
type workspace struct {
	testing.TB
	client dynamic.Interface
	config *rest.Config
	path   string
}

// newWorkspace makes a workspace below root and returns it as its administrator sees it.
func newWorkspace(t testing.TB, server *servertest.Server) workspace {
	t.Helper()
	ws := server.Workspace(t, "root", "")
	return as(t, server.In(t, "base", ws.Spec.Cluster), "root:"+ws.Name)
}

func as(t testing.TB, config *rest.Config, path string) workspace {
	t.Helper()
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return workspace{TB: t, client: client, config: config, path: path}
}

func (w workspace) resource(r schema.GroupVersionResource, namespace string) dynamic.ResourceInterface {
	if namespace == "" {
		return w.client.Resource(r)
	}
	return w.client.Resource(r).Namespace(namespace)
}

// create creates obj, which is changed to what the server answers.
func create[T runtime.Object](w workspace, r schema.GroupVersionResource, kind string, obj T) T {
	w.Helper()
	created, err := w.tryCreate(r, kind, obj)
	if err != nil {
		w.Fatalf("creating a %s in %s: %v", kind, w.path, err)
	}
	return into[T](w, created)
}

func (w workspace) tryCreate(r schema.GroupVersionResource, kind string, obj runtime.Object) (*unstructured.Unstructured, error) {
	w.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		w.Fatal(err)
	}
	delete(content, "status")
	u := &unstructured.Unstructured{Object: content}
	u.SetGroupVersionKind(r.GroupVersion().WithKind(kind))
	return w.resource(r, u.GetNamespace()).Create(w.Context(), u, metav1.CreateOptions{})
}

// get returns an object; ok is false if there is none.
func get[T any](w workspace, r schema.GroupVersionResource, namespace, name string) (obj T, ok bool) {
	w.Helper()
	u, err := w.resource(r, namespace).Get(w.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return obj, false
	}
	if err != nil {
		w.Fatalf("reading %s %s in %s: %v", r.Resource, name, w.path, err)
	}
	return into[T](w, u), true
}

func into[T any](w workspace, u *unstructured.Unstructured) (obj T) {
	w.Helper()
	raw, err := json.Marshal(u)
	if err != nil {
		w.Fatal(err)
	}
	if err := json.Unmarshal(raw, &obj); err != nil {
		w.Fatal(err)
	}
	return obj
}

func (w workspace) patch(r schema.GroupVersionResource, namespace, name, patch string) {
	w.Helper()
	_, err := w.resource(r, namespace).Patch(w.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	if err != nil {
		w.Fatalf("patching %s %s: %v", r.Resource, name, err)
	}
}

func (w workspace) delete(r schema.GroupVersionResource, namespace, name string) {
	w.Helper()
	if err := w.resource(r, namespace).Delete(w.Context(), name, metav1.DeleteOptions{}); err != nil {
		w.Fatalf("deleting %s %s: %v", r.Resource, name, err)
	}
}

// eventually waits until an object is as wanted.
func eventually[T any](w workspace, r schema.GroupVersionResource, namespace, name, what string, wanted func(T) bool) T {
	w.Helper()
	var last T
	servertest.Eventually(w, what, func() (bool, any) {
		obj, ok := get[T](w, r, namespace, name)
		last = obj
		return ok && wanted(obj), obj
	})
	return last
}

// condition returns a condition without its time, which tests do not know.
func condition(from conditions.Getter, t conditions.Type) conditions.Condition {
	c, _ := conditions.Get(from, t)
	c.LastTransitionTime = metav1.Time{}
	return c
}

func same(t testing.TB, reason string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", reason, diff)
	}
}

func newExport(name string, edit ...func(*apisv1alpha2.APIExport)) *apisv1alpha2.APIExport {
	export := &apisv1alpha2.APIExport{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for _, e := range edit {
		e(export)
	}
	return export
}

func secretRef(namespace, name string) func(*apisv1alpha2.APIExport) {
	return func(e *apisv1alpha2.APIExport) {
		e.Spec.Identity = &apisv1alpha2.Identity{SecretRef: &corev1.SecretReference{Namespace: namespace, Name: name}}
	}
}

func secret(namespace, name, key string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Data:       map[string][]byte{apisv1alpha1.SecretKeyAPIExportIdentity: []byte(key)},
	}
}
