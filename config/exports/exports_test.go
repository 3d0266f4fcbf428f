package exports

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/config/crds"
	"github.com/forkless/kcp/internal/schema"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

func definitions(t *testing.T) []*apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	all, err := crds.All()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func exported(t *testing.T, definitions []*apiextensionsv1.CustomResourceDefinition) *Exported {
	t.Helper()
	all, err := New(definitions, map[string][]byte{"tenancy.kcp.io": []byte("abcd1234")}, metav1.Now())
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestSchemasSayWhatDefinitionsDo: what is served by a schema, once it is bound, is what
// the definition describes.
func TestSchemasSayWhatDefinitionsDo(t *testing.T) {
	all := definitions(t)
	for _, described := range exported(t, all).Schemas {
		described.UID = "1"
		bound, err := schema.BoundCRD(described, logicalcluster.Root, nil)
		if err != nil {
			t.Fatal(err)
		}
		resource := schema.BoundResource(described)
		i := slices.IndexFunc(all, func(crd *apiextensionsv1.CustomResourceDefinition) bool { return schema.ResourceOf(crd) == resource })
		want := all[i].DeepCopy()
		apiextensionsv1.SetObjectDefaults_CustomResourceDefinition(want)
		for v := range want.Spec.Versions {
			// No subresources are written in two ways.
			if subresources := want.Spec.Versions[v].Subresources; subresources != nil && *subresources == (apiextensionsv1.CustomResourceSubresources{}) {
				want.Spec.Versions[v].Subresources = nil
			}
		}
		if diff := cmp.Diff(want.Spec, bound.Spec); diff != "" {
			t.Errorf("%s (-definition +bound):\n%s", described.Name, diff)
		}
	}
}

func TestSchemasAreCalledAfterTheirContent(t *testing.T) {
	names := func(change func(*apiextensionsv1.CustomResourceDefinition)) []string {
		all := definitions(t)
		for _, crd := range all {
			if crd.Name == "workspaces.tenancy.kcp.io" {
				change(crd)
			}
		}
		var names []string
		for _, described := range exported(t, all).Schemas {
			names = append(names, described.Name)
		}
		return names
	}
	before := names(func(*apiextensionsv1.CustomResourceDefinition) {})
	if diff := cmp.Diff(before, names(func(*apiextensionsv1.CustomResourceDefinition) {})); diff != "" {
		t.Errorf("the same content has another name (-first +second):\n%s", diff)
	}
	after := names(func(crd *apiextensionsv1.CustomResourceDefinition) {
		crd.Spec.Versions[0].AdditionalPrinterColumns = nil
	})
	changed := 0
	for i := range before {
		if before[i] != after[i] {
			changed++
		}
	}
	if changed != 1 {
		t.Errorf("one schema has changed, %d have another name: %v, %v", changed, before, after)
	}
}

func TestIdentity(t *testing.T) {
	for _, export := range exported(t, definitions(t)).Exports {
		if export.Name != "tenancy.kcp.io" {
			continue
		}
		if want := "e9cee71ab932fde863338d08be4de9dfe39ea049bdafb342ce659ec5450b69ae"; export.Status.IdentityHash != want {
			t.Errorf("identity %s, want %s", export.Status.IdentityHash, want)
		}
	}
	first, second := NewKey(), NewKey()
	if len(first) != 43 || string(first) == string(second) {
		t.Errorf("keys are 256 random bits, as text: %s, %s", first, second)
	}
	if key := Key(Secret("x", first).Data); string(key) != string(first) {
		t.Errorf("the secret holds %s, not %s", key, first)
	}
}

func TestEveryOfferIsDefined(t *testing.T) {
	if _, err := New(nil, nil, metav1.Now()); err == nil {
		t.Error("an export of something that nothing defines")
	}
	for _, name := range Names() {
		if len(Resources(name)) == 0 {
			t.Errorf("%s offers nothing", name)
		}
	}
	if Resources("nothing") != nil {
		t.Error("an export that there is none of offers something")
	}
}

// BenchmarkNew is part of every start.
func BenchmarkNew(b *testing.B) {
	all, err := crds.All()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := New(all, nil, metav1.Now()); err != nil {
			b.Fatal(err)
		}
	}
}
