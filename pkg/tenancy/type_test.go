package tenancy_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/forkless/kcp/internal/tenancy/tenancytest"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/tenancy"
)

func TestInherited(t *testing.T) {
	org := tenancytest.ClusterAt("root:org").String()
	cases := map[string]struct {
		reason       string
		spec         spec
		initializers []corev1alpha1.Initializer
		terminators  []corev1alpha1.Terminator
		universal    bool
	}{
		"Nothing": {reason: "a type that asks for nothing makes nobody wait"},
		"Universal": {
			reason:       "what universal asks for is inherited, bindings come last",
			spec:         spec{Extend: extends(ref{Name: "universal", Path: "root"})},
			initializers: []corev1alpha1.Initializer{"root:universal", "system:apibindings"},
			universal:    true,
		},
		"Own": {
			reason: "own identifiers have the cluster name on their left, whatever the path",
			spec: spec{
				Extend:      extends(ref{Name: "universal", Path: "root"}),
				Initializer: true,
				Terminator:  true,
			},
			initializers: []corev1alpha1.Initializer{"root:universal", corev1alpha1.Initializer(org + ":a"), "system:apibindings"},
			terminators:  []corev1alpha1.Terminator{corev1alpha1.Terminator(org + ":a")},
			universal:    true,
		},
		"BindingsOnly": {
			reason:       "default bindings of the type itself count",
			spec:         spec{DefaultAPIBindings: []tenancyv1alpha1.APIExportReference{{Export: "x"}}},
			initializers: []corev1alpha1.Initializer{"system:apibindings"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			tree := tree(t)
			tree.AddTypeSpec("root:org", "a", c.spec)
			set, err := tree.Resolver().Resolve(t.Context(), tenancytest.PlaceAt("root:org"), ref{Name: "a"})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.initializers, set.Initializers()); diff != "" {
				t.Errorf("%s: initializers (-want +got):\n%s", c.reason, diff)
			}
			if diff := cmp.Diff(c.terminators, set.Terminators()); diff != "" {
				t.Errorf("%s: terminators (-want +got):\n%s", c.reason, diff)
			}
			if set.IsUniversal() != c.universal {
				t.Errorf("%s: universal is %t", c.reason, set.IsUniversal())
			}
		})
	}
}

func TestUniversalElsewhere(t *testing.T) {
	tree := tree(t)
	tree.AddTypeSpec("root:org", tenancy.UniversalType, spec{})
	set, err := tree.Resolver().Resolve(t.Context(), tenancytest.PlaceAt("root:org"), ref{Name: tenancy.UniversalType})
	if err != nil {
		t.Fatal(err)
	}
	if set.IsUniversal() {
		t.Error("a type of that name outside root must not pass for the one in root")
	}
}
