package tenancy_test

import (
	"strings"
	"testing"

	"github.com/forkless/kcp/internal/tenancy/tenancytest"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/tenancy"
)

func TestCheckPlacement(t *testing.T) {
	inRoot := func(name string) ref { return ref{Name: name, Path: "root"} }
	custom := map[string]spec{
		"leaf":      {LimitAllowedChildren: limit()},
		"leafbased": {Extend: extends(inRoot("leaf"))},
		"byid":      {LimitAllowedParents: limit(ref{Name: "open", Path: tenancytest.ClusterAt("root:org").String()})},
		"open":      {},
		"vague":     {LimitAllowedChildren: &tenancyv1alpha1.WorkspaceTypeSelector{}},
		"picky":     {LimitAllowedParents: limit(inRoot("team")), LimitAllowedChildren: limit(inRoot("team"))},
	}
	cases := map[string]struct {
		reason        string
		parent, child ref
		refused       []string
	}{
		"OrganizationInRoot": {
			reason: "organizations belong into root",
			parent: inRoot("root"), child: inRoot("organization"),
		},
		"OrganizationInOrganization": {
			reason: "and nowhere else",
			parent: inRoot("organization"), child: inRoot("organization"),
			refused: []string{"root:organization only allows parents of the types [root:root]", "but root:organization implements [root:organization root:universal]"},
		},
		"TeamInRoot": {
			reason: "teams belong into organizations and teams",
			parent: inRoot("root"), child: inRoot("team"),
			refused: []string{"[root:organization root:team]", "root:root implements [root:root root:universal]"},
		},
		"TeamInOrganization": {
			reason: "an organization allows universal, and a team extends it",
			parent: inRoot("organization"), child: inRoot("team"),
		},
		"TeamInTeam": {reason: "teams nest", parent: inRoot("team"), child: inRoot("team")},
		"Home": {
			reason: "a home cannot be made as a workspace",
			parent: inRoot("root"), child: inRoot("home"), refused: []string{"root:home allows no parents"},
		},
		"NoChildren": {
			reason: "a type may allow no children",
			parent: inRoot("leaf"), child: inRoot("universal"), refused: []string{"root:leaf allows no children, not root:universal either"},
		},
		"NoChildrenInherited": {
			reason: "limits are inherited, and the message says from whom",
			parent: inRoot("leafbased"), child: inRoot("universal"), refused: []string{"root:leafbased extends root:leaf, which allows no children"},
		},
		"NothingNamed": {
			reason: "a limit that names nothing allows nothing, and says so rather than list nothing",
			parent: inRoot("vague"), child: inRoot("universal"), refused: []string{"root:vague limits its children and names none that it allows"},
		},
		"ClusterNeverMatches": {
			reason: "limits are compared by canonical path",
			parent: inRoot("open"), child: inRoot("byid"), refused: []string{"root:byid only allows parents"},
		},
		"All": {
			reason: "all that is wrong is said at once",
			parent: inRoot("picky"), child: inRoot("picky"), refused: []string{"only allows parents of the types [root:team]", "; ", "only allows children of the types [root:team]"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			tree := tree(t)
			for name, spec := range custom {
				tree.AddTypeSpec("root", name, spec)
			}
			set := func(reference ref) *tenancy.Set {
				set, err := tree.Resolver().Resolve(t.Context(), tenancytest.PlaceAt("root"), reference)
				if err != nil {
					t.Fatal(err)
				}
				return set
			}
			err := tenancy.CheckPlacement(set(c.parent), set(c.child))
			if len(c.refused) == 0 {
				if err != nil {
					t.Fatalf("%s: %v", c.reason, err)
				}
				return
			}
			if !tenancy.IsUnresolved(err) {
				t.Fatalf("%s: got error %v", c.reason, err)
			}
			for _, want := range c.refused {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%s: error %q lacks %q", c.reason, err, want)
				}
			}
		})
	}
}
