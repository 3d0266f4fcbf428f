package versions

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/forkless/kcp/internal/servertest"
	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
)

var (
	schemas     = apisv1alpha1.GroupVersion.WithResource("apiresourceschemas")
	conversions = apisv1alpha1.GroupVersion.WithResource("apiconversions")
	exports     = apisv1alpha2.GroupVersion.WithResource("apiexports")
	bindings    = apisv1alpha2.GroupVersion.WithResource("apibindings")

	peopleV1 = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "people"}
	peopleV2 = schema.GroupVersionResource{Group: "example.com", Version: "v2", Resource: "people"}
)

// workspace is a workspace as its administrator sees it.
type workspace struct {
	testing.TB
	client  dynamic.Interface
	path    string
	cluster string
}

func newWorkspace(t testing.TB, server *servertest.Server) workspace {
	t.Helper()
	ws := server.Workspace(t, "root", "")
	client, err := dynamic.NewForConfig(server.In(t, "base", ws.Spec.Cluster))
	if err != nil {
		t.Fatal(err)
	}
	return workspace{TB: t, client: client, path: "root:" + ws.Name, cluster: ws.Spec.Cluster}
}

// of returns the client of a resource; people are in the namespace default.
func (w workspace) of(r schema.GroupVersionResource) dynamic.ResourceInterface {
	if r.Group == peopleV1.Group {
		return w.client.Resource(r).Namespace("default")
	}
	return w.client.Resource(r)
}

// object reads an object as YAML has it.
func (w workspace) object(text string) *unstructured.Unstructured {
	w.Helper()
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		w.Fatal(err)
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(raw); err != nil {
		w.Fatal(err)
	}
	return u
}

func (w workspace) create(r schema.GroupVersionResource, text string) *unstructured.Unstructured {
	w.Helper()
	created, err := w.of(r).Create(w.Context(), w.object(text), metav1.CreateOptions{})
	if err != nil {
		w.Fatalf("creating one of %s in %s: %v", r.Resource, w.path, err)
	}
	return created
}

func (w workspace) get(r schema.GroupVersionResource, name string) *unstructured.Unstructured {
	w.Helper()
	u, err := w.of(r).Get(w.Context(), name, metav1.GetOptions{})
	if err != nil {
		w.Fatalf("reading %s of %s in %s: %v", name, r.Resource, w.path, err)
	}
	return u
}

func (w workspace) patch(r schema.GroupVersionResource, name, patch string, subresources ...string) *unstructured.Unstructured {
	w.Helper()
	u, err := w.of(r).Patch(w.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, subresources...)
	if err != nil {
		w.Fatalf("patching %s of %s in %s: %v", name, r.Resource, w.path, err)
	}
	return u
}

func (w workspace) apply(r schema.GroupVersionResource, manager, text string) (*unstructured.Unstructured, error) {
	w.Helper()
	u := w.object(text)
	return w.of(r).Apply(w.Context(), u.GetName(), u, metav1.ApplyOptions{FieldManager: manager})
}

// offer makes an export called people of a schema.
func (w workspace) offer(name string) {
	w.Helper()
	w.create(exports, fmt.Sprintf(`
apiVersion: apis.kcp.io/v1alpha2
kind: APIExport
metadata: {name: people}
spec: {resources: [{group: example.com, name: people, schema: %s}]}`, name))
}

// bind binds the export people of a provider and waits until it is served.
func (w workspace) bind(provider workspace) {
	w.Helper()
	w.create(bindings, fmt.Sprintf(`
apiVersion: apis.kcp.io/v1alpha2
kind: APIBinding
metadata: {name: people}
spec: {reference: {export: {path: %s, name: people}}}`, provider.path))
	servertest.Eventually(w, "the binding to be bound", func() (bool, any) {
		b := w.get(bindings, "people")
		phase, _, _ := unstructured.NestedString(b.Object, "status", "phase")
		return phase == "Bound", b.Object["status"]
	})
}

// replace makes the export offer another schema.
func (w workspace) replace(name string) {
	w.Helper()
	w.patch(exports, "people", fmt.Sprintf(`{"spec":{"resources":[{"group":"example.com","name":"people","schema":%q,"storage":{"crd":{}}}]}}`, name))
}

// awaitSchema waits until a binding has a schema.
func (w workspace) awaitSchema(name string) {
	w.Helper()
	servertest.Eventually(w, "the binding to have the schema "+name, func() (bool, any) {
		bound, _, _ := unstructured.NestedSlice(w.get(bindings, "people").Object, "status", "boundResources")
		if len(bound) != 1 {
			return false, bound
		}
		got, _, _ := unstructured.NestedString(bound[0].(map[string]any), "schema", "name")
		return got == name, bound
	})
}

// field returns what is at a path as JSON; empty if there is nothing.
func field(u *unstructured.Unstructured, path string) string {
	value, found, err := unstructured.NestedFieldNoCopy(u.Object, strings.Split(path, ".")...)
	if err != nil || !found {
		return ""
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

func (w workspace) expect(reason string, u *unstructured.Unstructured, path, want string) {
	w.Helper()
	if got := field(u, path); got != want {
		w.Errorf("%s: %s %s of %s is %s, want %s", reason, u.GetAPIVersion(), path, u.GetName(), got, want)
	}
}
