package claim

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
)

func newClaim(group, resource, identity string, verbs ...string) apisv1alpha2.PermissionClaim {
	return apisv1alpha2.PermissionClaim{
		GroupResource: apisv1alpha2.GroupResource{Group: group, Resource: resource}, IdentityHash: identity, Verbs: verbs,
	}
}

func TestParse(t *testing.T) {
	cases := map[string]struct {
		reason, arg string
		want        apisv1alpha2.PermissionClaim
		// formatted is how it is shown, "" for an error.
		formatted string
	}{
		"Bare":       {reason: "a resource alone is of the core group", arg: "secrets", want: newClaim("", "secrets", ""), formatted: "secrets"},
		"Core":       {reason: "which may be named as well", arg: "secrets.core", want: newClaim("", "secrets", ""), formatted: "secrets"},
		"Group":      {reason: "groups have dots", arg: "widgets.example.dev", want: newClaim("example.dev", "widgets", ""), formatted: "widgets.example.dev"},
		"Identity":   {reason: "as claims are shown, they can be written", arg: "widgets.example.dev:abc", want: newClaim("example.dev", "widgets", "abc"), formatted: "widgets.example.dev:abc"},
		"Verbs":      {reason: "verbs stand behind the rest", arg: "secrets=get+list+get", want: newClaim("", "secrets", "", "get", "list"), formatted: "secrets"},
		"Commas":     {reason: "where a comma separates nothing else", arg: "secrets=get,list", want: newClaim("", "secrets", "", "get", "list"), formatted: "secrets"},
		"Any":        {reason: "any verb includes the others", arg: "secrets=get+*", want: newClaim("", "secrets", "", "*"), formatted: "secrets"},
		"NoResource": {reason: "a group alone is no claim", arg: ".core"},
		"NoVerbs":    {reason: "no verbs are not all of them", arg: "secrets="},
		"BadVerb":    {reason: "verbs are words", arg: "secrets=get list"},
		"Upper":      {reason: "resources are not kinds", arg: "Secret"},
		"Empty":      {reason: "nothing is no claim", arg: ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Parse(tc.arg)
			if (err != nil) != (tc.formatted == "") {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if err != nil {
				return
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", tc.reason, diff)
			}
			if Format(got) != tc.formatted {
				t.Errorf("%s: it is shown as %q, want %q", tc.reason, Format(got), tc.formatted)
			}
		})
	}
}

func TestSelectors(t *testing.T) {
	cases := map[string]struct {
		reason, arg string
		want        apisv1alpha2.PermissionClaimSelector
		fails       bool
	}{
		"All":    {reason: "everything has a sign", arg: "*", want: apisv1alpha2.PermissionClaimSelector{MatchAll: true}},
		"Labels": {reason: "as kubectl has them", arg: "a=b", want: apisv1alpha2.PermissionClaimSelector{LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}}},
		"Expressions": {reason: "with sets as well", arg: "a in (b,c)", want: apisv1alpha2.PermissionClaimSelector{LabelSelector: metav1.LabelSelector{
			MatchLabels:      map[string]string{},
			MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: metav1.LabelSelectorOpIn, Values: []string{"b", "c"}}},
		}}},
		"Empty": {reason: "an empty selector would select everything by accident", arg: "", fails: true},
		"Bad":   {reason: "what is no selector is refused", arg: "a in", fails: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := ParseSelector(tc.arg)
			if (err != nil) != tc.fails {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if err != nil {
				return
			}
			if !equality.Semantic.DeepEqual(tc.want, got) {
				t.Errorf("%s: (-want +got)\n%s", tc.reason, cmp.Diff(tc.want, got))
			}
			if FormatSelector(got) != tc.arg {
				t.Errorf("%s: it is shown as %q", tc.reason, FormatSelector(got))
			}
		})
	}
}

func TestOpen(t *testing.T) {
	binding := &apisv1alpha2.APIBinding{}
	binding.Status.ExportPermissionClaims = []apisv1alpha2.PermissionClaim{
		newClaim("", "secrets", "", "get"), newClaim("", "configmaps", "", "get"), newClaim("a.io", "things", "new", "get"),
	}
	var accepted, other, unanswered apisv1alpha2.AcceptablePermissionClaim
	accepted.PermissionClaim, accepted.State = newClaim("", "secrets", "", "*"), apisv1alpha2.ClaimAccepted
	other.PermissionClaim, other.State = newClaim("a.io", "things", "old", "get"), apisv1alpha2.ClaimRejected
	unanswered.PermissionClaim = newClaim("", "configmaps", "", "get")
	binding.Spec.PermissionClaims = []apisv1alpha2.AcceptablePermissionClaim{accepted, other, unanswered}
	if diff := cmp.Diff(binding.Status.ExportPermissionClaims[1:], Open(binding)); diff != "" {
		t.Errorf("an answer counts for its identity, and only if it is one (-want +got):\n%s", diff)
	}
}
