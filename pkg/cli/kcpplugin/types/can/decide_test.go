package can

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/forkless/kcp/internal/tenancy/tenancytest"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/diagnosis"
	"github.com/forkless/kcp/pkg/cli/display"
	"github.com/forkless/kcp/pkg/tenancy"
)

type (
	spec = tenancyv1alpha1.WorkspaceTypeSpec
	ref  = tenancyv1alpha1.WorkspaceTypeReference
)

func inRoot(name string) ref { return ref{Path: "root", Name: name} }

// sets returns types of root with what they extend.
func sets(t *testing.T) func(name string) *tenancy.Set {
	t.Helper()
	tree := tenancytest.New(t)
	universal := tenancyv1alpha1.WorkspaceTypeExtension{With: []ref{inRoot("universal")}}
	tree.AddTypeSpec("root", "sandbox", spec{Extend: universal, LimitAllowedChildren: &tenancyv1alpha1.WorkspaceTypeSelector{None: true}})
	tree.AddTypeSpec("root", "picky", spec{Extend: universal, LimitAllowedChildren: &tenancyv1alpha1.WorkspaceTypeSelector{Types: []ref{inRoot("home"), inRoot("box")}}})
	tree.AddTypeSpec("root", "box", spec{Extend: tenancyv1alpha1.WorkspaceTypeExtension{With: []ref{inRoot("sandbox")}}})
	return func(name string) *tenancy.Set {
		set, err := tree.Resolver().Resolve(t.Context(), tenancytest.PlaceAt("root"), inRoot(name))
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
}

func TestVerdict(t *testing.T) {
	cases := map[string]struct {
		reason        string
		parent, child string
		denied        bool
		lacking       []string
		want          string
		failed        []rule
	}{
		"Yes": {
			reason: "nothing stands against it", parent: "organization", child: "team",
			want: "yes  you may create workspaces of type root:team in root:lab (root:organization)\n",
		},
		"NoChildren": {
			reason: "the rule is named as the field is", parent: "sandbox", child: "universal",
			want:   "no   root:lab is of type root:sandbox, which allows no children (limitAllowedChildren.none)\n",
			failed: []rule{rulePlace},
		},
		"Inherited": {
			reason: "with the type that it comes from", parent: "box", child: "universal",
			want:   "no   root:lab is of type root:box, which allows no children (limitAllowedChildren.none of root:sandbox)\n",
			failed: []rule{rulePlace},
		},
		"Children": {
			reason: "the types that are allowed are named", parent: "picky", child: "universal",
			want:   "no   root:lab is of type root:picky, which only allows children of type root:box, root:home (limitAllowedChildren.types)\n",
			failed: []rule{rulePlace},
		},
		"Parents": {
			reason: "in both directions", parent: "universal", child: "organization",
			want:   "no   root:organization only goes below workspaces of type root:root, and root:lab is of type root:universal (limitAllowedParents.types)\n",
			failed: []rule{rulePlace},
		},
		"NoParents": {
			reason: "some go nowhere", parent: "universal", child: "root",
			want:   "no   root:root allows no parents (limitAllowedParents.none)\n",
			failed: []rule{rulePlace},
		},
		"Everything": {
			reason: "all reasons are given at once, in the order of the server", parent: "sandbox", child: "team", denied: true, lacking: []string{"universal", "team"},
			want: "no   you may not create workspaces in root:lab (verb create on workspaces)\n" +
				"     you may not use root:universal, which root:team extends (verb use on workspacetypes/universal in root)\n" +
				"     you may not use root:team (verb use on workspacetypes/team in root)\n" +
				"     root:team only goes below workspaces of type root:organization, root:team, and root:lab is of type root:sandbox (limitAllowedParents.types)\n" +
				"     root:lab is of type root:sandbox, which allows no children (limitAllowedChildren.none)\n",
			failed: []rule{ruleCreate, ruleUse, rulePlace},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			types := sets(t)
			q := question{under: "root:lab", parent: types(tc.parent), child: types(tc.child), mayCreate: !tc.denied}
			for _, name := range tc.lacking {
				q.lacking = append(q.lacking, types(name).Type)
			}
			v := q.verdict()
			var out bytes.Buffer
			if err := v.print(&out, display.Display{}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, out.String()); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", tc.reason, diff)
			}
			var failed []rule
			for _, check := range v.diagnosis(time.Unix(0, 0)).Checks {
				if check.State == diagnosis.Failed {
					failed = append(failed, rule(check.Name))
				}
			}
			if diff := cmp.Diff(tc.failed, failed); diff != "" {
				t.Errorf("%s: checks that failed (-want +got)\n%s", tc.reason, diff)
			}
		})
	}
}
