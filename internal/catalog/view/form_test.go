package view

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/internal/catalog/structural"
	"github.com/forkless/kcp/internal/schema"
)

func props(fields ...string) *apiextensionsv1.CustomResourceValidation {
	spec := apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{}}
	for _, field := range fields {
		property := apiextensionsv1.JSONSchemaProps{Type: "string"}
		if field == "size" {
			property.Default = &apiextensionsv1.JSON{Raw: []byte(`"medium"`)}
		}
		spec.Properties[field] = property
	}
	return &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
		Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": spec},
	}}
}

// newForm returns how version is seen of a definition that stores v1 and whose v2
// lacks the field size.
func newForm(t *testing.T, version string) *Form {
	t.Helper()
	definition, err := schema.New(&apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "widgets.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.com",
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{
				{Name: "v1", Storage: true, Served: true, Schema: props("color", "size")},
				{Name: "v2", Served: true, Schema: props("color")},
			},
		},
		Status: apiextensionsv1.CustomResourceDefinitionStatus{
			AcceptedNames: apiextensionsv1.CustomResourceDefinitionNames{Plural: "widgets", Kind: "Widget"},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	schemas, err := structural.Compile(definition)
	if err != nil {
		t.Fatal(err)
	}
	return &Form{
		Kind:           apischema.GroupVersionKind{Group: "example.com", Version: version, Kind: "Widget"},
		StorageVersion: "v1",
		Schemas:        schemas,
	}
}

func stored(version string, spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/" + version, "kind": "Widget",
		"metadata": map[string]any{"name": "a", "generation": int64(1)},
		"spec":     spec,
	}}
}

func TestOut(t *testing.T) {
	cases := map[string]struct {
		reason       string
		version      string
		in, want     *unstructured.Unstructured
		sharesObject bool
		sharesSpec   bool
	}{
		"AsStored": {
			reason: "what stays as it is, is not copied", version: "v1",
			in:           stored("v1", map[string]any{"color": "red", "size": "big"}),
			want:         stored("v1", map[string]any{"color": "red", "size": "big"}),
			sharesObject: true, sharesSpec: true,
		},
		"OtherVersion": {
			reason: "the name of the version is changed in a copy of the top level alone", version: "v2",
			in:         stored("v1", map[string]any{}),
			want:       stored("v2", map[string]any{}),
			sharesSpec: false, // the default of v1 is filled in and pruned again
		},
		"StoredInOtherVersion": {
			reason: "an object is normalized by the version it was stored in", version: "v1",
			in:         stored("v2", map[string]any{"color": "red"}),
			want:       stored("v1", map[string]any{"color": "red"}),
			sharesSpec: true,
		},
		"Default": {
			reason: "defaults are filled in on reading, in a copy", version: "v1",
			in:   stored("v1", map[string]any{"color": "red"}),
			want: stored("v1", map[string]any{"color": "red", "size": "medium"}),
		},
		"Pruned": {
			reason: "what the version does not know goes, in a copy", version: "v2",
			in:   stored("v1", map[string]any{"color": "red", "size": "big"}),
			want: stored("v2", map[string]any{"color": "red"}),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			form, before := newForm(t, tc.version), tc.in.DeepCopy()
			got, err := form.out(tc.in, false)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want.Object, got.Object); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(before.Object, tc.in.Object); diff != "" {
				t.Errorf("shared memory was changed (-before +after):\n%s", diff)
			}
			if shares := samePointer(tc.in.Object, got.Object); shares != tc.sharesObject {
				t.Errorf("%s: shares the object = %t, want %t", tc.reason, shares, tc.sharesObject)
			}
			if shares := samePointer(tc.in.Object["spec"], got.Object["spec"]); shares != tc.sharesSpec {
				t.Errorf("%s: shares the spec = %t, want %t", tc.reason, shares, tc.sharesSpec)
			}
		})
	}
}

func samePointer(a, b any) bool {
	return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer()
}

func TestUnknownStoredVersion(t *testing.T) {
	if _, err := newForm(t, "v1").out(stored("v9", nil), false); err == nil {
		t.Error("an object of a version nobody knows is not shown as something it is not")
	}
}

func TestIn(t *testing.T) {
	object := stored("v2", map[string]any{"color": "red"})
	got, err := newForm(t, "v2").in(object, nil, func() runtime.Object { return &unstructured.Unstructured{} })
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(stored("v1", map[string]any{"color": "red"}), got); diff != "" {
		t.Errorf("objects are stored in the storage version (-want +got):\n%s", diff)
	}
	if object.GetAPIVersion() != "example.com/v2" {
		t.Error("the caller's object was changed")
	}
}
