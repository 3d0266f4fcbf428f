package view

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/internal/tenancy/tenancytest"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/display"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// team returns the view of a type that has a bit of everything.
func team(t *testing.T) *View {
	t.Helper()
	tree := tenancytest.New(t)
	tree.AddCluster("root:acme", "root:organization")
	maintain := tenancyv1alpha1.APIBindingLifecycleMaintain
	inRoot := func(name string) tenancyv1alpha1.WorkspaceTypeReference {
		return tenancyv1alpha1.WorkspaceTypeReference{Path: "root", Name: name}
	}
	tree.AddTypeSpec("root:acme", "base", tenancyv1alpha1.WorkspaceTypeSpec{
		Terminator:            true,
		TerminatorPermissions: []rbacv1.PolicyRule{{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"secrets"}}},
		LimitAllowedParents:   &tenancyv1alpha1.WorkspaceTypeSelector{Types: []tenancyv1alpha1.WorkspaceTypeReference{inRoot("organization"), inRoot("team")}},
	})
	tree.AddType("root:acme", &tenancyv1alpha1.WorkspaceType{
		ObjectMeta: metav1.ObjectMeta{Name: "team"},
		Spec: tenancyv1alpha1.WorkspaceTypeSpec{
			Extend:                       tenancyv1alpha1.WorkspaceTypeExtension{With: []tenancyv1alpha1.WorkspaceTypeReference{{Name: "base"}, inRoot("universal")}},
			Initializer:                  true,
			AdditionalWorkspaceLabels:    map[string]string{"tier": "gold", "a": "b"},
			LimitAllowedChildren:         &tenancyv1alpha1.WorkspaceTypeSelector{None: true},
			DefaultAPIBindings:           []tenancyv1alpha1.APIExportReference{{Path: "root:platform", Export: "certs"}, {Path: "root", Export: "tenancy.kcp.io"}, {Export: "own"}},
			DefaultAPIBindingLifecycle:   &maintain,
			AuthenticationConfigurations: []tenancyv1alpha1.AuthenticationConfigurationReference{{Name: "corp"}},
		},
		Status: tenancyv1alpha1.WorkspaceTypeStatus{VirtualWorkspaces: []tenancyv1alpha1.VirtualWorkspace{
			{URL: "https://kcp.example.dev/services/initializingworkspaces/id:team", Type: tenancyv1alpha1.VirtualWorkspaceInitializing},
			{URL: "https://kcp.example.dev/services/terminatingworkspaces/id:team", Type: tenancyv1alpha1.VirtualWorkspaceTerminating},
		}},
	})
	set, err := tree.Resolver().Resolve(t.Context(), tenancytest.PlaceAt("root:acme"), tenancyv1alpha1.WorkspaceTypeReference{Name: "team"})
	if err != nil {
		t.Fatal(err)
	}
	v := Of(set)
	for i, b := range v.Bindings {
		v.Bindings[i].Found, v.Bindings[i].MayBind = Yes, Yes
		switch b.Export {
		case "certs":
			v.Bindings[i].Found = No
		case "own":
			v.Bindings[i].Found, v.Bindings[i].MayBind = Unknown, Unknown
		case "topology.kcp.io":
			v.Bindings[i].MayBind = No
		}
	}
	v.Use = &Use{You: No, Lacking: []string{"root:acme:base"}, Subjects: []Subject{{Kind: "Group", Name: "developers", Binding: "team-use"}}}
	return v
}

func TestPrint(t *testing.T) {
	cases := map[string]struct {
		reason  string
		display display.Display
	}{
		"piped":  {reason: "off a terminal nothing is cut"},
		"narrow": {reason: "40 columns hold the left half", display: display.Display{Terminal: true, Width: 40}},
		"color":  {reason: "colors repeat what words say", display: display.Display{Terminal: true, Width: 100, Color: true}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := team(t).Print(&out, tc.display); err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", name+".txt")
			if *update {
				if err := os.WriteFile(golden, out.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), out.String()); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", tc.reason, diff)
			}
		})
	}
}

func TestUsers(t *testing.T) {
	rule := func(verbs, groups, resources, names []string) []rbacv1.PolicyRule {
		return []rbacv1.PolicyRule{{Verbs: verbs, APIGroups: groups, Resources: resources, ResourceNames: names}}
	}
	all := []string{"*"}
	tenancy, types, use := []string{"tenancy.kcp.io"}, []string{"workspacetypes"}, []string{"use"}
	cases := map[string]struct {
		reason string
		rules  []rbacv1.PolicyRule
		want   bool
	}{
		"Named":         {reason: "the role is about the type", rules: rule(use, tenancy, types, []string{"other", "team"}), want: true},
		"OtherName":     {reason: "or about another", rules: rule(use, tenancy, types, []string{"other"})},
		"AllNames":      {reason: "without names it is about all", rules: rule(use, tenancy, types, nil), want: true},
		"Admin":         {reason: "who may do everything may do this", rules: rule(all, all, all, nil), want: true},
		"OtherVerb":     {reason: "reading is not using", rules: rule([]string{"get"}, tenancy, types, nil)},
		"OtherGroup":    {reason: "groups count", rules: rule(use, []string{"acme.io"}, types, nil)},
		"OtherResource": {reason: "resources count", rules: rule(use, tenancy, []string{"workspaces"}, nil)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			roles := []rbacv1.ClusterRole{{ObjectMeta: metav1.ObjectMeta{Name: "role"}, Rules: tc.rules}}
			bindings := []rbacv1.ClusterRoleBinding{
				{ObjectMeta: metav1.ObjectMeta{Name: "binding"}, RoleRef: rbacv1.RoleRef{Name: "role"}, Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: "ns", Name: "sa"}, {Kind: "Group", Name: "apis.kcp.io:binding:system:authenticated"}}},
				{ObjectMeta: metav1.ObjectMeta{Name: "dangling"}, RoleRef: rbacv1.RoleRef{Name: "gone"}, Subjects: []rbacv1.Subject{{Kind: "User", Name: "nobody"}}},
			}
			var want []Subject
			if tc.want {
				want = []Subject{{Kind: "ServiceAccount", Name: "ns/sa", Binding: "binding"}}
			}
			if diff := cmp.Diff(want, Users("team", roles, bindings)); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", tc.reason, diff)
			}
		})
	}
}
