package boundcrd_test

import (
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/internal/boundcrd"
	kcpschema "github.com/forkless/kcp/internal/schema"
	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

func cowboys() *apisv1alpha1.APIResourceSchema {
	return &apisv1alpha1.APIResourceSchema{
		ObjectMeta: metav1.ObjectMeta{Name: "today.cowboys.wildwest.dev", UID: "1", ResourceVersion: "7"},
		Spec: apisv1alpha1.APIResourceSchemaSpec{
			Group: "wildwest.dev",
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "cowboys", Singular: "cowboy", Kind: "Cowboy", ListKind: "CowboyList"},
			Scope: apiextensionsv1.NamespaceScoped,
			Versions: []apisv1alpha1.APIResourceVersion{{
				Name: "v1alpha1", Served: true, Storage: true, Schema: runtime.RawExtension{Raw: []byte(`{"type":"object"}`)},
			}},
		},
	}
}

func TestDefinitionsAreSharedByContent(t *testing.T) {
	definitions := boundcrd.NewDefinitions()
	first, err := definitions.OfSchema(cowboys(), logicalcluster.Root, nil)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := definitions.OfSchema(cowboys(), logicalcluster.Root, nil); err != nil || again != first {
		t.Errorf("made a second time, error %v", err)
	}
	if name := first.CRD.Name; name != "cowboys.wildwest.dev" {
		t.Errorf("called %s", name)
	}
	elsewhere := cowboys()
	elsewhere.UID = "2"
	if other, err := definitions.OfSchema(elsewhere, logicalcluster.SystemShard, nil); err != nil || other.Hash != first.Hash {
		t.Errorf("the same schema elsewhere is another definition, error %v", err)
	}
	crd, err := kcpschema.BoundCRD(cowboys(), logicalcluster.Root, nil)
	if err != nil {
		t.Fatal(err)
	}
	if stored, err := definitions.OfCRD(crd); err != nil || stored.Hash != first.Hash {
		t.Errorf("the stored definition is another one than that of the schema, error %v", err)
	}
	relaxed := cowboys()
	relaxed.ResourceVersion, relaxed.Spec.NameValidation = "8", apisv1alpha1.NameValidationPathSegment
	if other, err := definitions.OfSchema(relaxed, logicalcluster.Root, nil); err != nil || other.Hash == first.Hash || !other.PathSegmentNames {
		t.Errorf("the rule for names is no part of the definition, error %v", err)
	}
}

func TestConversionRulesArePartOfADefinition(t *testing.T) {
	s := cowboys()
	s.Spec.Versions = append(s.Spec.Versions, apisv1alpha1.APIResourceVersion{
		Name: "v1", Served: true, Schema: runtime.RawExtension{Raw: []byte(`{"type":"object"}`)},
	})
	s.Spec.Conversion = &apisv1alpha1.CustomResourceConversion{Strategy: apisv1alpha1.ConversionNone}
	conversion := &apisv1alpha1.APIConversion{
		ObjectMeta: metav1.ObjectMeta{Name: s.Name, UID: "9", ResourceVersion: "1"},
		Spec: apisv1alpha1.APIConversionSpec{Conversions: []apisv1alpha1.APIVersionConversion{{
			From: "v1", To: "v1alpha1", Rules: []apisv1alpha1.APIConversionRule{{Field: "spec.a", Destination: "spec.b"}},
		}}},
	}
	definitions := boundcrd.NewDefinitions()
	without, err := definitions.OfSchema(s, logicalcluster.Root, nil)
	if err != nil {
		t.Fatal(err)
	}
	with, err := definitions.OfSchema(s, logicalcluster.Root, conversion)
	if err != nil {
		t.Fatal(err)
	}
	if with.Hash == without.Hash || with.Rules == nil || with.Rules.Conversions[0].Rules[0].Destination != "spec.b" {
		t.Errorf("rules: %+v", with.Rules)
	}
}

func TestUnreadableSchemas(t *testing.T) {
	s := cowboys()
	s.Spec.Versions[0].Schema.Raw = []byte(`[]`)
	_, err := boundcrd.NewDefinitions().OfSchema(s, logicalcluster.Root, nil)
	if err == nil || !strings.Contains(err.Error(), "today.cowboys.wildwest.dev, version v1alpha1") {
		t.Errorf("got %v", err)
	}
}

func TestOwnResourcesHaveNoIdentityInStorage(t *testing.T) {
	workspaces := schema.GroupResource{Group: "tenancy.kcp.io", Resource: "workspaces"}
	identities := boundcrd.NewIdentities(workspaces)
	if _, ok := identities.Storage(workspaces, "ab"); ok {
		t.Error("can be bound before anybody knows by whose export")
	}
	identities.SetOwn(workspaces, "ab")
	for _, test := range []struct {
		reason   string
		resource schema.GroupResource
		hash     string
		want     string
		ok       bool
	}{
		{"our own, from our export", workspaces, "ab", "", true},
		{"our own, from somebody's export", workspaces, "cd", "", false},
		{"somebody's", schema.GroupResource{Group: "wildwest.dev", Resource: "cowboys"}, "cd", "cd", true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got, ok := identities.Storage(test.resource, test.hash); got != test.want || ok != test.ok {
				t.Errorf("got %q, %v", got, ok)
			}
		})
	}
}
