package schema_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/internal/schema"
)

func widgets(mutate ...func(*apiextensionsv1.CustomResourceDefinition)) *apiextensionsv1.CustomResourceDefinition {
	names := apiextensionsv1.CustomResourceDefinitionNames{
		Plural: "widgets", Singular: "widget", Kind: "Widget", ListKind: "WidgetList",
	}
	crd := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "widgets.example.com", UID: "1", ResourceVersion: "7"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.com", Names: names, Scope: apiextensionsv1.NamespaceScoped,
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{
				{Name: "v1", Served: true, Storage: true, Schema: &apiextensionsv1.CustomResourceValidation{
					OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
						Type:    "object",
						Default: &apiextensionsv1.JSON{Raw: []byte(`{"a": 1, "b": 2}`)},
					},
				}},
				{Name: "v2", Served: false},
			},
		},
		Status: apiextensionsv1.CustomResourceDefinitionStatus{
			AcceptedNames:  names,
			StoredVersions: []string{"v0", "v1"},
			Conditions:     []apiextensionsv1.CustomResourceDefinitionCondition{{Type: apiextensionsv1.Established}},
		},
	}
	for _, m := range mutate {
		m(crd)
	}
	return crd
}

func TestHash(t *testing.T) {
	cases := map[string]struct {
		reason string
		mutate func(*apiextensionsv1.CustomResourceDefinition)
		same   bool
	}{
		"ObjectMeta": {
			reason: "metadata belongs to one cluster and must not keep clusters from sharing",
			mutate: func(c *apiextensionsv1.CustomResourceDefinition) {
				c.UID, c.Generation = "2", 5
				c.Annotations = map[string]string{"kcp.io/cluster": "root"}
			},
			same: true,
		},
		"Conditions": {
			reason: "conditions carry times, which differ between clusters",
			mutate: func(c *apiextensionsv1.CustomResourceDefinition) { c.Status.Conditions = nil },
			same:   true,
		},
		"StoredVersions": {
			reason: "what was stored once does not change how the API is served",
			mutate: func(c *apiextensionsv1.CustomResourceDefinition) { c.Status.StoredVersions = []string{"v1"} },
			same:   true,
		},
		"SpellingOfDefaults": {
			reason: "embedded JSON is compared by value, not by its order of keys or white space",
			mutate: func(c *apiextensionsv1.CustomResourceDefinition) {
				c.Spec.Versions[0].Schema.OpenAPIV3Schema.Default.Raw = []byte(`{"b":2,"a":1}`)
			},
			same: true,
		},
		"Schema": {
			reason: "another schema is another definition",
			mutate: func(c *apiextensionsv1.CustomResourceDefinition) {
				c.Spec.Versions[0].Schema.OpenAPIV3Schema.MaxProperties = new(int64)
			},
		},
		"AcceptedNames": {
			reason: "accepted names decide the URL, so they belong to the content",
			mutate: func(c *apiextensionsv1.CustomResourceDefinition) { c.Status.AcceptedNames.ShortNames = []string{"w"} },
		},
		"Served": {
			reason: "a version that is not served any more changes what clients see",
			mutate: func(c *apiextensionsv1.CustomResourceDefinition) { c.Spec.Versions[1].Served = true },
		},
	}
	want, err := schema.Hash(widgets())
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := schema.Hash(widgets(tc.mutate))
			if err != nil {
				t.Fatal(err)
			}
			if (got == want) != tc.same {
				t.Errorf("%s: same hash = %t, want %t", tc.reason, got == want, tc.same)
			}
		})
	}
}

func TestNew(t *testing.T) {
	crd := widgets()
	definition, err := schema.New(crd)
	if err != nil {
		t.Fatal(err)
	}
	want := widgets()
	want.TypeMeta = metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"}
	want.ObjectMeta = metav1.ObjectMeta{Name: "widgets.example.com"}
	want.Status.Conditions = nil
	want.Status.StoredVersions = []string{"v1"}
	if diff := cmp.Diff(want, definition.CRD); diff != "" {
		t.Errorf("a definition holds nothing of one cluster (-want +got):\n%s", diff)
	}

	crd.Spec.Versions[0].Name = "changed"
	crd.Status.AcceptedNames.Plural = "changed"
	if diff := cmp.Diff(want, definition.CRD); diff != "" {
		t.Errorf("a definition does not share memory with what it was made of (-want +got):\n%s", diff)
	}
}

func TestDefinition(t *testing.T) {
	d, err := schema.New(widgets())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := d.GroupResource(), (apischema.GroupResource{Group: "example.com", Resource: "widgets"}); got != want {
		t.Errorf("GroupResource() = %v, want %v", got, want)
	}
	if got, want := d.GroupKind(), (apischema.GroupKind{Group: "example.com", Kind: "Widget"}); got != want {
		t.Errorf("GroupKind() = %v, want %v", got, want)
	}
	if version, ok := d.StorageVersion(); version != "v1" || !ok {
		t.Errorf("StorageVersion() = %q, %t, want v1, true", version, ok)
	}
	if !d.Namespaced() {
		t.Error("Namespaced() = false, want true")
	}
	if !d.Serves("v1") || d.Serves("v2") || d.Serves("v3") {
		t.Error("only v1 exists and is served")
	}
}

func TestResourceOf(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		group  string
		want   apischema.GroupResource
	}{
		"Named": {
			reason: "a group is called in URLs as it is in its definition",
			group:  "apps",
			want:   apischema.GroupResource{Group: "apps", Resource: "widgets"},
		},
		"Core": {
			reason: "the core group has no name but in definitions",
			group:  "core",
			want:   apischema.GroupResource{Resource: "widgets"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			crd := &apiextensionsv1.CustomResourceDefinition{}
			crd.Spec.Group, crd.Spec.Names.Plural = tc.group, "widgets"
			if diff := cmp.Diff(tc.want, schema.ResourceOf(crd)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
