package servertest

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
)

// Cowboys is the resource that tests export which do not care what they export: objects
// in namespaces, with a string in spec.intent.
var Cowboys = schema.GroupVersionResource{Group: "wildwest.dev", Version: "v1alpha1", Resource: "cowboys"}

// CowboySchema returns the schema of Cowboys, in one version.
func CowboySchema() *apisv1alpha1.APIResourceSchema {
	return &apisv1alpha1.APIResourceSchema{
		ObjectMeta: metav1.ObjectMeta{Name: "today.cowboys.wildwest.dev"},
		Spec: apisv1alpha1.APIResourceSchemaSpec{
			Group: Cowboys.Group,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "cowboys", Singular: "cowboy", Kind: "Cowboy", ListKind: "CowboyList"},
			Scope: apiextensionsv1.NamespaceScoped,
			Versions: []apisv1alpha1.APIResourceVersion{{
				Name: Cowboys.Version, Served: true, Storage: true,
				Schema: runtime.RawExtension{Raw: []byte(`{"type":"object","properties":{"spec":{"type":"object","properties":{"intent":{"type":"string"}}}}}`)},
			}},
		},
	}
}

// Cowboy returns an object of Cowboys in the namespace default.
func Cowboy(name string) *unstructured.Unstructured {
	cowboy := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"intent": "ride"}}}
	cowboy.SetGroupVersionKind(Cowboys.GroupVersion().WithKind("Cowboy"))
	cowboy.SetNamespace("default")
	cowboy.SetName(name)
	return cowboy
}

// Export creates an export of what schemas describe, which are created with it, in the
// workspace that config is directed at, and returns it when it has an identity. edit may
// be nil.
func Export(t testing.TB, config *rest.Config, name string, edit func(*apisv1alpha2.APIExport), schemas ...*apisv1alpha1.APIResourceSchema) *apisv1alpha2.APIExport {
	t.Helper()
	export := &apisv1alpha2.APIExport{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for _, s := range schemas {
		mustCreate(t, config, apisv1alpha1.GroupVersion.WithResource("apiresourceschemas"), "APIResourceSchema", s)
		export.Spec.Resources = append(export.Spec.Resources, apisv1alpha2.ResourceSchema{
			Name: s.Spec.Names.Plural, Group: s.Spec.Group, Schema: s.Name,
			Storage: apisv1alpha2.ResourceSchemaStorage{CRD: &apisv1alpha2.ResourceSchemaStorageCRD{}},
		})
	}
	if edit != nil {
		edit(export)
	}
	resource := apisv1alpha2.GroupVersion.WithResource("apiexports")
	mustCreate(t, config, resource, "APIExport", export)
	return waitFor(t, config, resource, name, func(e *apisv1alpha2.APIExport) bool { return e.Status.IdentityHash != "" })
}

// Bind creates a binding, in the workspace that config is directed at, to an export of its
// name in the workspace at path, and returns it when it is bound. Just after somebody was
// given access to a workspace, it may take a moment until he may bind.
func Bind(t testing.TB, config *rest.Config, path, export string) *apisv1alpha2.APIBinding {
	t.Helper()
	resource := apisv1alpha2.GroupVersion.WithResource("apibindings")
	mustCreate(t, config, resource, "APIBinding", &apisv1alpha2.APIBinding{
		ObjectMeta: metav1.ObjectMeta{Name: export},
		Spec: apisv1alpha2.APIBindingSpec{Reference: apisv1alpha2.BindingReference{
			Export: &apisv1alpha2.ExportBindingReference{Path: path, Name: export},
		}},
	})
	return waitFor(t, config, resource, export, func(b *apisv1alpha2.APIBinding) bool {
		return b.Status.Phase == apisv1alpha2.APIBindingPhaseBound
	})
}

func mustCreate(t testing.TB, config *rest.Config, resource schema.GroupVersionResource, kind string, obj runtime.Object) {
	t.Helper()
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		t.Fatal(err)
	}
	delete(content, "status")
	u := &unstructured.Unstructured{Object: content}
	u.SetGroupVersionKind(resource.GroupVersion().WithKind(kind))
	if _, err := client.Resource(resource).Create(t.Context(), u, metav1.CreateOptions{}); err != nil {
		t.Fatalf("creating %s %s: %v", kind, u.GetName(), err)
	}
}

// waitFor returns a cluster-scoped object when it is as wanted.
func waitFor[T any](t testing.TB, config *rest.Config, resource schema.GroupVersionResource, name string, wanted func(*T) bool) *T {
	t.Helper()
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	found := new(T)
	err = wait.PollUntilContextTimeout(t.Context(), Poll, Patience, true, func(ctx context.Context) (bool, error) {
		u, err := client.Resource(resource).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		raw, err := json.Marshal(u)
		if err != nil {
			return false, err
		}
		found = new(T)
		if err := json.Unmarshal(raw, found); err != nil {
			return false, fmt.Errorf("reading %s: %w", name, err)
		}
		return wanted(found), nil
	})
	if err != nil {
		t.Fatalf("waiting for %s %s, which is %+v: %v", resource.Resource, name, found, err)
	}
	return found
}
