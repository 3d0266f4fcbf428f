package typeref

import (
	"testing"

	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

func TestParse(t *testing.T) {
	cases := map[string]struct {
		reason, arg string
		want        tenancyv1alpha1.WorkspaceTypeReference
		fails       bool
	}{
		"Name":      {reason: "a name alone is looked for", arg: "team", want: tenancyv1alpha1.WorkspaceTypeReference{Name: "team"}},
		"Path":      {reason: "the last colon splits", arg: "root:acme:team", want: tenancyv1alpha1.WorkspaceTypeReference{Path: "root:acme", Name: "team"}},
		"Absolute":  {reason: "paths may be written as kubectl ws has them", arg: ":root:team", want: tenancyv1alpha1.WorkspaceTypeReference{Path: "root", Name: "team"}},
		"Cluster":   {reason: "a workspace has another name, too", arg: "1x8c0h2m4n6p7q5r:team", want: tenancyv1alpha1.WorkspaceTypeReference{Path: "1x8c0h2m4n6p7q5r", Name: "team"}},
		"UpperCase": {reason: "kinds are in upper case, types are not", arg: "root:Team", want: tenancyv1alpha1.WorkspaceTypeReference{Path: "root", Name: "team"}},
		"Colon":     {reason: "a colon names nothing", arg: ":", fails: true},
		"NoName":    {reason: "a path is no type", arg: "root:", fails: true},
		"NoPath":    {reason: "an empty path leads nowhere", arg: "::team", fails: true},
		"Spaces":    {reason: "what cannot be a name is none", arg: "my team", fails: true},
		"BadPath":   {reason: "what cannot be a path is none", arg: "root:A_B:team", fails: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Parse(tc.arg)
			if (err != nil) != tc.fails {
				t.Fatalf("%s: error %v", tc.reason, err)
			}
			if err == nil && got != tc.want {
				t.Errorf("%s: got %+v, want %+v", tc.reason, got, tc.want)
			}
		})
	}
}
