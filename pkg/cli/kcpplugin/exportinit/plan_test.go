package exportinit

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/cli/kcpplugin/definition"
)

var day = time.Date(2026, time.August, 20, 0, 0, 0, 0, time.UTC)

// crd returns a definition; others of the same resource differ in their description.
func crd(group, plural, description string) *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: plural + "." + group, Annotations: map[string]string{apiextensionsv1.KubeAPIApprovedAnnotation: "unapproved, " + group}},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: group, Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: plural, Kind: "Kind"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Description: description}},
			}},
		},
	}
}

// schemaOf returns what is there already for a definition.
func schemaOf(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition, prefix string) apisv1alpha1.APIResourceSchema {
	t.Helper()
	spec, err := definition.Spec(crd)
	if err != nil {
		t.Fatal(err)
	}
	schema, err := definition.New(spec, prefix)
	if err != nil {
		t.Fatal(err)
	}
	return *schema
}

func exportOf(name string, resources ...apisv1alpha2.ResourceSchema) *apisv1alpha2.APIExport {
	return &apisv1alpha2.APIExport{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apis.kcp.io/v1alpha2", Kind: "APIExport"},
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       apisv1alpha2.APIExportSpec{Resources: resources},
	}
}

func resource(group, name, schema string) apisv1alpha2.ResourceSchema {
	return withStorage(apisv1alpha2.ResourceSchema{Group: group, Name: name, Schema: schema})
}

func TestDecide(t *testing.T) {
	widgets, gadgets, others := crd("example.dev", "widgets", "a"), crd("example.dev", "gadgets", "b"), crd("other.dev", "things", "c")
	changed := crd("example.dev", "widgets", "new")
	virtual := apisv1alpha2.ResourceSchema{Group: "example.dev", Name: "virtuals", Schema: "v1.virtuals.example.dev"}
	virtual.Storage.Virtual = &apisv1alpha2.ResourceSchemaStorageVirtual{IdentityHash: "x"}
	policy := exportOf("example.dev", resource("example.dev", "widgets", "v1.widgets.example.dev"))
	policy.Spec.MaximalPermissionPolicy = &apisv1alpha2.MaximalPermissionPolicy{Local: &apisv1alpha2.LocalAPIExportPolicy{}}
	policy.Spec.PermissionClaims = []apisv1alpha2.PermissionClaim{
		{GroupResource: apisv1alpha2.GroupResource{Resource: "secrets"}, Verbs: []string{"get"}, DefaultSelector: &apisv1alpha2.PermissionClaimSelector{MatchAll: true}},
		{GroupResource: apisv1alpha2.GroupResource{Resource: "configmaps"}, Verbs: []string{"get"}},
	}
	policyAfter := policy.DeepCopy()
	policyAfter.Spec.PermissionClaims[0].Verbs = []string{"*"}

	cases := map[string]struct {
		reason  string
		request request
		present present
		// schemas says of each schema by name whether it is new.
		schemas map[string]bool
		exports []*apisv1alpha2.APIExport
		changed []bool
		dropped []string
	}{
		"Groups": {
			reason:  "each group has an export of its own, named for it",
			request: request{definitions: []*apiextensionsv1.CustomResourceDefinition{widgets, others, gadgets}},
			schemas: map[string]bool{"v260820-HASH.widgets.example.dev": true, "v260820-HASH.gadgets.example.dev": true, "v260820-HASH.things.other.dev": true},
			exports: []*apisv1alpha2.APIExport{
				exportOf("example.dev", resource("example.dev", "gadgets", "v260820-HASH.gadgets.example.dev"), resource("example.dev", "widgets", "v260820-HASH.widgets.example.dev")),
				exportOf("other.dev", resource("other.dev", "things", "v260820-HASH.things.other.dev")),
			},
			changed: []bool{true, true},
		},
		"Name": {
			reason:  "or all are in one",
			request: request{definitions: []*apiextensionsv1.CustomResourceDefinition{widgets, others}, name: "all"},
			schemas: map[string]bool{"v260820-HASH.widgets.example.dev": true, "v260820-HASH.things.other.dev": true},
			exports: []*apisv1alpha2.APIExport{
				exportOf("all", resource("example.dev", "widgets", "v260820-HASH.widgets.example.dev"), resource("other.dev", "things", "v260820-HASH.things.other.dev")),
			},
			changed: []bool{true},
		},
		"Unchanged": {
			reason:  "what is the same keeps its name, the one in use before others, and nothing is written",
			request: request{definitions: []*apiextensionsv1.CustomResourceDefinition{widgets}},
			present: present{
				schemas: []apisv1alpha1.APIResourceSchema{schemaOf(t, widgets, "v0"), schemaOf(t, widgets, "v1"), schemaOf(t, widgets, "v2")},
				exports: map[string]*apisv1alpha2.APIExport{"example.dev": exportOf("example.dev", apisv1alpha2.ResourceSchema{Group: "example.dev", Name: "widgets", Schema: "v1.widgets.example.dev"})},
			},
			schemas: map[string]bool{"v1.widgets.example.dev": false},
			exports: []*apisv1alpha2.APIExport{exportOf("example.dev", resource("example.dev", "widgets", "v1.widgets.example.dev"))},
			changed: []bool{false},
		},
		"Changed": {
			reason:  "another content is another schema, and what the definitions are not about is dropped",
			request: request{definitions: []*apiextensionsv1.CustomResourceDefinition{changed, gadgets}},
			present: present{
				schemas: []apisv1alpha1.APIResourceSchema{schemaOf(t, widgets, "v1"), schemaOf(t, gadgets, "v1")},
				exports: map[string]*apisv1alpha2.APIExport{"example.dev": exportOf("example.dev",
					resource("example.dev", "gadgets", "v1.gadgets.example.dev"), resource("example.dev", "gone", "v1.gone.example.dev"), virtual, resource("example.dev", "widgets", "v1.widgets.example.dev"))},
			},
			schemas: map[string]bool{"v260820-HASH.widgets.example.dev": true, "v1.gadgets.example.dev": false},
			exports: []*apisv1alpha2.APIExport{exportOf("example.dev",
				resource("example.dev", "gadgets", "v1.gadgets.example.dev"), virtual, resource("example.dev", "widgets", "v260820-HASH.widgets.example.dev"))},
			changed: []bool{true},
			dropped: []string{"gone"},
		},
		"Preserve": {
			reason:  "a flag keeps what would be dropped",
			request: request{definitions: []*apiextensionsv1.CustomResourceDefinition{widgets}, preserve: true},
			present: present{
				schemas: []apisv1alpha1.APIResourceSchema{schemaOf(t, widgets, "v1")},
				exports: map[string]*apisv1alpha2.APIExport{"example.dev": exportOf("example.dev",
					resource("example.dev", "gone", "v1.gone.example.dev"), resource("example.dev", "widgets", "v1.widgets.example.dev"))},
			},
			schemas: map[string]bool{"v1.widgets.example.dev": false},
			exports: []*apisv1alpha2.APIExport{exportOf("example.dev",
				resource("example.dev", "gone", "v1.gone.example.dev"), resource("example.dev", "widgets", "v1.widgets.example.dev"))},
			changed: []bool{false},
		},
		"Claims": {
			reason: "what the request does not name stays as it is",
			request: request{
				definitions: []*apiextensionsv1.CustomResourceDefinition{widgets},
				claims:      []apisv1alpha2.PermissionClaim{{GroupResource: apisv1alpha2.GroupResource{Resource: "secrets"}}},
			},
			present: present{schemas: []apisv1alpha1.APIResourceSchema{schemaOf(t, widgets, "v1")}, exports: map[string]*apisv1alpha2.APIExport{"example.dev": policy}},
			schemas: map[string]bool{"v1.widgets.example.dev": false},
			exports: []*apisv1alpha2.APIExport{policyAfter},
			changed: []bool{true},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.request.today = day
			p, err := decide(tc.request, tc.present)
			if err != nil {
				t.Fatal(err)
			}
			schemas := map[string]bool{}
			hashes := map[string]string{}
			for _, s := range p.schemas {
				name := s.Name
				if s.isNew {
					// The hash is definition's business, that it is there is ours.
					name = name[:8] + "HASH" + name[16:]
					hashes[s.Name] = name
					if diff := cmp.Diff("unapproved, "+s.Spec.Group, s.Annotations[apiextensionsv1.KubeAPIApprovedAnnotation]); diff != "" {
						t.Errorf("the approval of %s (-want +got):\n%s", s.Name, diff)
					}
				}
				schemas[name] = s.isNew
			}
			if diff := cmp.Diff(tc.schemas, schemas); diff != "" {
				t.Errorf("%s: schemas (-want +got)\n%s", tc.reason, diff)
			}
			var exports []*apisv1alpha2.APIExport
			var changes []bool
			var dropped []string
			for _, e := range p.exports {
				for i, r := range e.Spec.Resources {
					if name, ok := hashes[r.Schema]; ok {
						e.Spec.Resources[i].Schema = name
					}
				}
				exports, changes = append(exports, e.APIExport), append(changes, e.changed())
				for _, d := range e.dropped {
					dropped = append(dropped, d.Name)
				}
			}
			if diff := cmp.Diff(tc.exports, exports); diff != "" {
				t.Errorf("%s: exports (-want +got)\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.changed, changes); diff != "" {
				t.Errorf("%s: changed (-want +got)\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.dropped, dropped); diff != "" {
				t.Errorf("%s: dropped (-want +got)\n%s", tc.reason, diff)
			}
		})
	}
}
