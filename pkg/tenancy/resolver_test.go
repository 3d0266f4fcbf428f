package tenancy_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/forkless/kcp/internal/tenancy/tenancytest"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/tenancy"
)

type (
	spec = tenancyv1alpha1.WorkspaceTypeSpec
	ref  = tenancyv1alpha1.WorkspaceTypeReference
)

func extends(references ...ref) tenancyv1alpha1.WorkspaceTypeExtension {
	return tenancyv1alpha1.WorkspaceTypeExtension{With: references}
}

func limit(references ...ref) *tenancyv1alpha1.WorkspaceTypeSelector {
	return &tenancyv1alpha1.WorkspaceTypeSelector{None: len(references) == 0, Types: references}
}

// tree is root, root:org and root:org:app, with a type "app" in each of the first two
// and a rootless tree beside.
func tree(t *testing.T) *tenancytest.Tree {
	t.Helper()
	tree := tenancytest.New(t)
	tree.AddCluster("root:org", "root:organization")
	tree.AddCluster("root:org:app", "root:org:app")
	tree.AddCluster("user:alice", "root:home")
	tree.AddTypeSpec("root", "app", spec{})
	tree.AddTypeSpec("root:org", "app", spec{})
	tree.AddTypeSpec("root:org", "private", spec{})
	tree.AddLateType("root:org", "late")
	return tree
}

func TestFind(t *testing.T) {
	cases := map[string]struct {
		reason  string
		from    string
		ref     ref
		want    string
		missing string
	}{
		"Nearest": {
			reason: "the type in the workspace itself hides those above",
			from:   "root:org", ref: ref{Name: "app"}, want: "root:org:app",
		},
		"Ancestor": {
			reason: "a type is looked for upwards",
			from:   "root:org:app", ref: ref{Name: "private"}, want: "root:org:private",
		},
		"JustCreated": {
			reason: "who has just created a type may use it",
			from:   "root:org", ref: ref{Name: "late", Path: "root:org"}, want: "root:org:late",
		},
		"JustCreatedAbove": {
			reason: "wherever it is",
			from:   "root:org:app", ref: ref{Name: "late"}, want: "root:org:late",
		},
		"Root": {
			reason: "the way upwards ends in root",
			from:   "root:org:app", ref: ref{Name: "universal"}, want: "root:universal",
		},
		"RootFromElsewhere": {
			reason: "root is asked at last although it is not above",
			from:   "user:alice", ref: ref{Name: "universal"}, want: "root:universal",
		},
		"NotDownwards": {
			reason: "types below are not found",
			from:   "root", ref: ref{Name: "private"}, missing: `"private" not found`,
		},
		"Path": {
			reason: "with a path nothing else is looked at",
			from:   "root:org", ref: ref{Name: "app", Path: "root"}, want: "root:app",
		},
		"PathWithoutType": {
			reason: "with a path there is no search upwards",
			from:   "root:org", ref: ref{Name: "private", Path: "root:org:app"}, missing: `"private" not found in workspace "root:org:app"`,
		},
		"ClusterAsPath": {
			reason: "the path may be a cluster name; the type is known by its canonical path all the same",
			from:   "root", ref: ref{Name: "private", Path: tenancytest.ClusterAt("root:org").String()}, want: "root:org:private",
		},
		"UnknownPath": {
			reason: "a missing workspace reads as a missing type",
			from:   "root", ref: ref{Name: "app", Path: "root:nowhere"}, missing: `"app" not found in workspace "root:nowhere"`,
		},
		"Wildcard": {
			reason: "references come before their schema is checked: the wildcard must not reach storage",
			from:   "root", ref: ref{Name: "app", Path: "*"}, missing: `not found`,
		},
		"MalformedPath": {
			reason: "references come before their schema is checked",
			from:   "root", ref: ref{Name: "app", Path: "root:../x"}, missing: `not found`,
		},
		"MalformedName": {
			reason: "a name with a slash must not reach a storage key",
			from:   "root", ref: ref{Name: "a/b"}, missing: `not found`,
		},
		"UpperCase": {
			reason: "names of types are lower case",
			from:   "root", ref: ref{Name: "Universal"}, missing: `not found`,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			found, err := tree(t).Resolver().Find(t.Context(), tenancytest.PlaceAt(c.from), c.ref)
			if c.missing != "" {
				if !tenancy.IsUnresolved(err) || !strings.Contains(err.Error(), c.missing) {
					t.Fatalf("%s: got error %v, want one about %s", c.reason, err, c.missing)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", c.reason, err)
			}
			if found.String() != c.want {
				t.Errorf("%s: found %s, want %s", c.reason, found, c.want)
			}
		})
	}
}

func TestDefault(t *testing.T) {
	cases := map[string]struct {
		reason   string
		typeName string
		want     string
		refused  string
	}{
		"Root":         {reason: "root has organizations by default", typeName: "root:root", want: "root:organization"},
		"Organization": {reason: "an organization has universal workspaces", typeName: "root:organization", want: "root:universal"},
		"ByCluster": {
			reason:   "the path in the annotation may be a cluster name, it is stored as given",
			typeName: tenancytest.ClusterAt("root:org").String() + ":parent", want: "root:org:private",
		},
		"NoDefault": {reason: "without a default the type must be said", typeName: "root:app", refused: "spec.type must be set"},
		"Unknown":   {reason: "the parent's type was deleted", typeName: "root:gone", refused: `"gone" not found`},
		"None":      {reason: "the type of the parent is not known", typeName: "", refused: "not <path>:<name>"},
		"Malformed": {reason: "an annotation without a path", typeName: "universal", refused: "not <path>:<name>"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			tree := tree(t)
			tree.AddTypeSpec("root:org", "parent", spec{DefaultChildWorkspaceType: &ref{Name: "private", Path: "root:org"}})
			lc := tree.AddCluster("root:parent", c.typeName)
			found, err := tree.Resolver().Default(t.Context(), tenancytest.ClusterAt("root:parent"), lc)
			if c.refused != "" {
				if !tenancy.IsUnresolved(err) || !strings.Contains(err.Error(), c.refused) {
					t.Fatalf("%s: got error %v, want one about %s", c.reason, err, c.refused)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", c.reason, err)
			}
			if found.String() != c.want {
				t.Errorf("%s: found %s, want %s", c.reason, found, c.want)
			}
		})
	}
}

func TestAliases(t *testing.T) {
	cases := map[string]struct {
		reason  string
		types   map[string]spec
		want    []string
		refused string
	}{
		"Alone": {
			reason: "a type without bases is its only alias",
			types:  map[string]spec{"a": {}},
			want:   []string{"root:org:a"},
		},
		"Order": {
			reason: "each base is followed by its own bases, and the type comes last",
			types: map[string]spec{
				"a": {Extend: extends(ref{Name: "b"}, ref{Name: "d"})},
				"b": {Extend: extends(ref{Name: "c"})},
				"c": {}, "d": {},
			},
			want: []string{"root:org:b", "root:org:c", "root:org:d", "root:org:a"},
		},
		"Diamond": {
			reason: "a base reached on two ways is there once, where it was reached first",
			types: map[string]spec{
				"a": {Extend: extends(ref{Name: "b"}, ref{Name: "c"})},
				"b": {Extend: extends(ref{Name: "d"})},
				"c": {Extend: extends(ref{Name: "d"})},
				"d": {},
			},
			want: []string{"root:org:b", "root:org:d", "root:org:c", "root:org:a"},
		},
		"Upwards": {
			reason: "a base without a path is looked for from the extending type upwards",
			types:  map[string]spec{"a": {Extend: extends(ref{Name: "team"})}},
			want:   []string{"root:team", "root:universal", "root:org:a"},
		},
		"Self": {
			reason:  "a type that extends itself cannot be used",
			types:   map[string]spec{"a": {Extend: extends(ref{Name: "a"})}},
			refused: "root:org:a -> root:org:a",
		},
		"Cycle": {
			reason: "the message names the circle, and only that",
			types: map[string]spec{
				"a": {Extend: extends(ref{Name: "b"})},
				"b": {Extend: extends(ref{Name: "c", Path: "root:org"})},
				"c": {Extend: extends(ref{Name: "b"})},
			},
			refused: "circle: root:org:b -> root:org:c -> root:org:b",
		},
		"MissingBase": {
			reason:  "a missing base is named, with who extends it",
			types:   map[string]spec{"a": {Extend: extends(ref{Name: "gone"})}},
			refused: `root:org:a extends "gone"`,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			tree := tree(t)
			for name, spec := range c.types {
				tree.AddTypeSpec("root:org", name, spec)
			}
			set, err := tree.Resolver().Resolve(t.Context(), tenancytest.PlaceAt("root:org"), ref{Name: "a"})
			if c.refused != "" {
				if !tenancy.IsUnresolved(err) || !strings.Contains(err.Error(), c.refused) {
					t.Fatalf("%s: got error %v, want one about %s", c.reason, err, c.refused)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", c.reason, err)
			}
			var got []string
			for _, alias := range set.Aliases {
				got = append(got, alias.String())
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}
