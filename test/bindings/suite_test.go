package bindings

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
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
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
)

const group = "wildwest.dev"

var (
	exports         = apisv1alpha2.GroupVersion.WithResource("apiexports")
	bindings        = apisv1alpha2.GroupVersion.WithResource("apibindings")
	schemas         = apisv1alpha1.GroupVersion.WithResource("apiresourceschemas")
	logicalClusters = corev1alpha1.GroupVersion.WithResource("logicalclusters")
	definitions     = apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions")
	cowboys         = schema.GroupVersionResource{Group: group, Version: "v1", Resource: "cowboys"}
	horses          = schema.GroupVersionResource{Group: group, Version: "v1", Resource: "horses"}
)

// workspace is a workspace as its administrator sees it.
type workspace struct {
	testing.TB
	client  dynamic.Interface
	config  *rest.Config
	path    string
	cluster string
}

func newWorkspace(t testing.TB, server *servertest.Server) workspace {
	t.Helper()
	ws := server.Workspace(t, "root", "")
	return open(t, server, "root:"+ws.Name, ws.Spec.Cluster)
}

func open(t testing.TB, server *servertest.Server, path, cluster string) workspace {
	t.Helper()
	config := server.In(t, "base", cluster)
	return workspace{TB: t, client: dynamicClient(t, config), config: config, path: path, cluster: cluster}
}

func dynamicClient(t testing.TB, config *rest.Config) dynamic.Interface {
	t.Helper()
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func (w workspace) resource(r schema.GroupVersionResource, namespace string) dynamic.ResourceInterface {
	if namespace == "" {
		return w.client.Resource(r)
	}
	return w.client.Resource(r).Namespace(namespace)
}

func (w workspace) tryCreate(r schema.GroupVersionResource, kind string, obj any) (*unstructured.Unstructured, error) {
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

func (w workspace) create(r schema.GroupVersionResource, kind string, obj any) *unstructured.Unstructured {
	w.Helper()
	created, err := w.tryCreate(r, kind, obj)
	if err != nil {
		w.Fatalf("creating a %s in %s: %v", kind, w.path, err)
	}
	return created
}

func (w workspace) patch(r schema.GroupVersionResource, namespace, name, patch string) {
	w.Helper()
	if _, err := w.resource(r, namespace).Patch(w.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		w.Fatalf("patching %s %s: %v", r.Resource, name, err)
	}
}

func (w workspace) delete(r schema.GroupVersionResource, namespace, name string) {
	w.Helper()
	if err := w.resource(r, namespace).Delete(w.Context(), name, metav1.DeleteOptions{}); err != nil {
		w.Fatalf("deleting %s %s: %v", r.Resource, name, err)
	}
}

func (w workspace) gone(r schema.GroupVersionResource, namespace, name string) {
	w.Helper()
	servertest.Eventually(w, r.Resource+" "+name+" is gone", func() (bool, any) {
		obj, err := w.resource(r, namespace).Get(w.Context(), name, metav1.GetOptions{})
		return apierrors.IsNotFound(err), obj
	})
}

// count returns how many objects of a resource there are.
func (w workspace) count(r schema.GroupVersionResource) int {
	w.Helper()
	list, err := w.client.Resource(r).List(w.Context(), metav1.ListOptions{})
	if err != nil {
		w.Fatalf("listing %s in %s: %v", r.Resource, w.path, err)
	}
	return len(list.Items)
}

func into[T any](t testing.TB, u *unstructured.Unstructured) (obj T) {
	t.Helper()
	raw, err := json.Marshal(u)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &obj); err != nil {
		t.Fatal(err)
	}
	return obj
}

// names are those of a resource: "cowboys" of kind "Cowboy".
func names(plural string) apiextensionsv1.CustomResourceDefinitionNames {
	singular := strings.TrimSuffix(plural, "s")
	kind := strings.ToUpper(singular[:1]) + singular[1:]
	return apiextensionsv1.CustomResourceDefinitionNames{Plural: plural, Singular: singular, Kind: kind, ListKind: kind + "List"}
}

// schemaFor makes the schema of a resource with fields of spec that are strings.
func (w workspace) schemaFor(prefix, plural string, fields []string, edit ...func(*apisv1alpha1.APIResourceSchema)) *unstructured.Unstructured {
	w.Helper()
	properties := make([]string, 0, len(fields))
	for _, field := range fields {
		properties = append(properties, fmt.Sprintf("%q:{\"type\":\"string\"}", field))
	}
	s := &apisv1alpha1.APIResourceSchema{
		ObjectMeta: metav1.ObjectMeta{Name: prefix + "." + plural + "." + group},
		Spec: apisv1alpha1.APIResourceSchemaSpec{
			Group: group, Names: names(plural), Scope: apiextensionsv1.NamespaceScoped,
			Versions: []apisv1alpha1.APIResourceVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: runtime.RawExtension{Raw: []byte(`{"type":"object","properties":{"spec":{"type":"object","properties":{` +
					strings.Join(properties, ",") + `}}}}`)},
			}},
		},
	}
	for _, e := range edit {
		e(s)
	}
	return w.create(schemas, "APIResourceSchema", s)
}

// offer is a resource of an export of the given schema.
func offer(schemaName string) apisv1alpha2.ResourceSchema {
	parts := strings.SplitN(schemaName, ".", 3)
	return apisv1alpha2.ResourceSchema{
		Name: parts[1], Group: parts[2], Schema: schemaName,
		Storage: apisv1alpha2.ResourceSchemaStorage{CRD: &apisv1alpha2.ResourceSchemaStorageCRD{}},
	}
}

// export makes an export of schemas and waits for its identity.
func (w workspace) export(name string, schemaNames ...string) *apisv1alpha2.APIExport {
	w.Helper()
	return w.exportOf(newExportOf(name, schemaNames...))
}

func newExportOf(name string, schemaNames ...string) *apisv1alpha2.APIExport {
	export := &apisv1alpha2.APIExport{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for _, s := range schemaNames {
		export.Spec.Resources = append(export.Spec.Resources, offer(s))
	}
	return export
}

func (w workspace) exportOf(export *apisv1alpha2.APIExport) *apisv1alpha2.APIExport {
	w.Helper()
	w.create(exports, "APIExport", export)
	var latest *apisv1alpha2.APIExport
	servertest.Eventually(w, "the export has an identity", func() (bool, any) {
		u, err := w.client.Resource(exports).Get(w.Context(), export.Name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		latest = into[*apisv1alpha2.APIExport](w, u)
		return latest.Status.IdentityHash != "", latest.Status
	})
	return latest
}

// provider makes a workspace that exports cowboys.
func provider(t testing.TB, server *servertest.Server) workspace {
	t.Helper()
	w := newWorkspace(t, server)
	w.schemaFor("today", "cowboys", []string{"hat"})
	w.export("cowboys", "today.cowboys."+group)
	return w
}

func newBinding(name, path, export string) *apisv1alpha2.APIBinding {
	b := &apisv1alpha2.APIBinding{ObjectMeta: metav1.ObjectMeta{Name: name}}
	b.Spec.Reference.Export = &apisv1alpha2.ExportBindingReference{Path: path, Name: export}
	return b
}

// bind binds an export and waits until it is bound.
func (w workspace) bind(name string, p workspace, export string) *apisv1alpha2.APIBinding {
	w.Helper()
	w.create(bindings, "APIBinding", newBinding(name, p.path, export))
	return w.bound(name)
}

func (w workspace) bound(name string) *apisv1alpha2.APIBinding {
	w.Helper()
	return w.binding(name, "it is bound", func(b *apisv1alpha2.APIBinding) bool {
		return b.Status.Phase == apisv1alpha2.APIBindingPhaseBound && conditions.IsTrue(b, apisv1alpha1.InitialBindingCompleted)
	})
}

// binding waits until a binding is as wanted.
func (w workspace) binding(name, what string, wanted func(*apisv1alpha2.APIBinding) bool) *apisv1alpha2.APIBinding {
	w.Helper()
	var b *apisv1alpha2.APIBinding
	servertest.Eventually(w, "binding "+name+": "+what, func() (bool, any) {
		u, err := w.client.Resource(bindings).Get(w.Context(), name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		b = into[*apisv1alpha2.APIBinding](w, u)
		return wanted(b), b.Status
	})
	return b
}

// says waits until a condition of a binding has a reason, and returns its message.
func (w workspace) says(name string, t conditions.Type, reason string) string {
	w.Helper()
	b := w.binding(name, string(t)+" says "+reason, func(b *apisv1alpha2.APIBinding) bool {
		return conditions.Reason(b, t) == reason && conditions.IsFalse(b, t)
	})
	c, _ := conditions.Get(b, t)
	return c.Message
}

// resources returns what a binding has bound.
func resources(b *apisv1alpha2.APIBinding) []string {
	var all []string
	for _, bound := range b.Status.BoundResources {
		all = append(all, bound.Resource)
	}
	slices.Sort(all)
	return all
}

// locks returns what the LogicalCluster says about who has which resource, but for those
// that every workspace is born with.
func (w workspace) locks() string {
	w.Helper()
	lc, err := w.client.Resource(logicalClusters).Get(w.Context(), corev1alpha1.LogicalClusterName, metav1.GetOptions{})
	if err != nil {
		w.Fatal(err)
	}
	var locks map[string]json.RawMessage
	if err := json.Unmarshal([]byte(lc.GetAnnotations()[apisv1alpha1.ResourceBindingsAnnotationKey]), &locks); err != nil {
		w.Fatal(err)
	}
	maps.DeleteFunc(locks, func(resource string, _ json.RawMessage) bool { return strings.HasSuffix(resource, ".kcp.io") })
	// Keys are sorted.
	raw, err := json.Marshal(locks)
	if err != nil {
		w.Fatal(err)
	}
	return string(raw)
}

// object returns an object of kind "Cowboy" or so, with values in its spec.
func object(r schema.GroupVersionResource, name string, spec map[string]any) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	u.SetGroupVersionKind(r.GroupVersion().WithKind(names(r.Resource).Kind))
	u.SetNamespace("default")
	u.SetName(name)
	return u
}

func (w workspace) put(r schema.GroupVersionResource, name string, finalizers ...string) *unstructured.Unstructured {
	w.Helper()
	u := object(r, name, map[string]any{"hat": "black"})
	u.SetFinalizers(finalizers)
	created, err := w.resource(r, "default").Create(w.Context(), u, metav1.CreateOptions{})
	if err != nil {
		w.Fatalf("creating %s %s in %s: %v", r.Resource, name, w.path, err)
	}
	return created
}

// define makes a CustomResourceDefinition of the workspace itself.
func (w workspace) define(plural string, edit ...func(*apiextensionsv1.CustomResourceDefinition)) {
	w.Helper()
	preserve := true
	crd := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: plural + "." + group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: group, Names: names(plural), Scope: apiextensionsv1.NamespaceScoped,
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", XPreserveUnknownFields: &preserve,
				}},
			}},
		},
	}
	for _, e := range edit {
		e(crd)
	}
	w.create(definitions, "CustomResourceDefinition", crd)
}

// definition waits until a condition of a CustomResourceDefinition has a status.
func (w workspace) definition(plural string, t apiextensionsv1.CustomResourceDefinitionConditionType, status apiextensionsv1.ConditionStatus) {
	w.Helper()
	servertest.Eventually(w, fmt.Sprintf("definition of %s: %s is %s", plural, t, status), func() (bool, any) {
		u, err := w.client.Resource(definitions).Get(w.Context(), plural+"."+group, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		crd := into[*apiextensionsv1.CustomResourceDefinition](w, u)
		return slices.ContainsFunc(crd.Status.Conditions, func(c apiextensionsv1.CustomResourceDefinitionCondition) bool {
			return c.Type == t && c.Status == status
		}), crd.Status.Conditions
	})
}
