package maintainedbindings

import (
	"testing"

	"github.com/forkless/kcp/internal/tenancy/tenancytest"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

var (
	org   = tenancytest.ClusterAt("root:org")
	other = tenancytest.ClusterAt("root:other")
	keeps = tenancyv1alpha1.APIBindingLifecycleMaintain
)

func typeOf(lifecycle *tenancyv1alpha1.APIBindingLifecycle, exports ...string) *tenancyv1alpha1.WorkspaceType {
	t := &tenancyv1alpha1.WorkspaceType{Spec: tenancyv1alpha1.WorkspaceTypeSpec{DefaultAPIBindingLifecycle: lifecycle}}
	for _, export := range exports {
		t.Spec.DefaultAPIBindings = append(t.Spec.DefaultAPIBindings, tenancyv1alpha1.APIExportReference{Export: export})
	}
	return t
}

func TestWhereNothingIsMaintainedNothingIsLookedAt(t *testing.T) {
	x := newIndex()
	if x.setType(object{org, "plain"}, typeOf(nil, "cowboys")) || x.setType(object{org, "gone"}, nil) {
		t.Error("a type that maintains nothing calls for a sweep although none does")
	}
	if x.exportChanged(object{org, "cowboys"}) || x.any() || !x.take().none() {
		t.Error("an export that nobody maintains calls for a sweep")
	}
}

func TestIndex(t *testing.T) {
	x := newIndex()
	if !x.setType(object{org, "kept"}, typeOf(&keeps, "cowboys")) || !x.any() {
		t.Fatal("a type that maintains bindings has to be known")
	}
	if !x.setType(object{org, "heir"}, typeOf(nil)) {
		t.Error("a type that maintains nothing may extend one that does")
	}
	if x.exportChanged(object{other, "horses"}) || !x.exportChanged(object{other, "cowboys"}) {
		t.Error("exports are told apart by name, since a path may lead anywhere")
	}
	taken := x.take()
	if len(taken.types) != 2 || len(taken.exports) != 1 || taken.gone || !x.take().none() {
		t.Errorf("taken: %+v", taken)
	}
	x.giveBack(taken)
	if again := x.take(); len(again.types) != 2 || len(again.exports) != 1 {
		t.Errorf("given back: %+v", again)
	}
	// The last one that maintains something: what it maintained has to be told.
	if !x.setType(object{org, "kept"}, nil) || x.any() {
		t.Error("the end of a type that maintained bindings calls for a sweep")
	}
	if !x.take().gone {
		t.Error("nobody can resolve a type that is gone")
	}
}

func TestTouch(t *testing.T) {
	tree := tenancytest.New(t)
	tree.AddCluster("root:org", "root:organization")
	tree.AddTypeSpec("root:org", "heir", tenancyv1alpha1.WorkspaceTypeSpec{Extend: tenancyv1alpha1.WorkspaceTypeExtension{
		With: []tenancyv1alpha1.WorkspaceTypeReference{{Name: "universal"}},
	}})
	set, err := tree.Resolver().Resolve(t.Context(), tenancytest.PlaceAt("root:org"), tenancyv1alpha1.WorkspaceTypeReference{Name: "heir"})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		reason  string
		changed object
		gone    bool
		want    bool
	}{
		"Itself":    {"the type itself", object{org, "heir"}, false, true},
		"Extended":  {"a type that it extends", object{logicalcluster.Root, "universal"}, false, true},
		"Elsewhere": {"a type of that name elsewhere is none of its business", object{other, "universal"}, false, false},
		"Gone":      {"a type that is gone may have been extended", object{other, "universal"}, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			changed := newChanges()
			changed.types[c.changed], changed.gone = struct{}{}, c.gone
			if got := changed.touch(set); got != c.want {
				t.Errorf("%s: got %v", c.reason, got)
			}
		})
	}
}
