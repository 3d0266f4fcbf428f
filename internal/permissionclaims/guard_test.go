package permissionclaims_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/forkless/kcp/internal/apihash"
	"github.com/forkless/kcp/internal/permissionclaims"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

const ownExport = "phGj1BkmdNY3LKTrtFc1KGLYTBs8Nt50p8PIU"

func guard(t *testing.T, claim apisv1alpha2.PermissionClaim, selector apisv1alpha2.PermissionClaimSelector) *permissionclaims.Guard {
	t.Helper()
	g, err := permissionclaims.NewGuard(logicalcluster.MustParseName("abcd1234"), "my-export", claim, answer(claim, apisv1alpha2.ClaimAccepted, selector))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestGuardOfObjects(t *testing.T) {
	red := apisv1alpha2.PermissionClaimSelector{LabelSelector: metav1.LabelSelector{
		MatchLabels:      map[string]string{"color": "red", "size": "big"},
		MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "old", Operator: metav1.LabelSelectorOpDoesNotExist}},
	}}
	for name, tc := range map[string]struct {
		reason   string
		selector apisv1alpha2.PermissionClaimSelector
		labels   map[string]string
		sees     bool
		missing  map[string]string
		conflict string
	}{
		"All":      {reason: "nothing to add", selector: everything, sees: true},
		"Fits":     {reason: "nothing is missing", selector: red, labels: map[string]string{"color": "red", "size": "big"}, sees: true},
		"Missing":  {reason: "one label is added", selector: red, labels: map[string]string{"color": "red"}, missing: map[string]string{"size": "big"}},
		"Conflict": {reason: "a value is not changed", selector: red, labels: map[string]string{"size": "small"}, conflict: "size"},
		"Excluded": {reason: "expressions are not filled in", selector: red, labels: map[string]string{"color": "red", "size": "big", "old": ""}},
	} {
		t.Run(name, func(t *testing.T) {
			g := guard(t, claim("configmaps", "*"), tc.selector)
			if got := g.Sees(tc.labels); got != tc.sees {
				t.Errorf("%s: sees %t", tc.reason, got)
			}
			missing, conflict, ok := g.Complete(tc.labels)
			if diff := cmp.Diff(tc.missing, missing); diff != "" {
				t.Errorf("%s: missing (-want +got):\n%s", tc.reason, diff)
			}
			if conflict != tc.conflict || ok != (tc.conflict == "") {
				t.Errorf("%s: conflict over %q, %t", tc.reason, conflict, ok)
			}
		})
	}
}

func TestGuardOfBindings(t *testing.T) {
	bindings := claim("apibindings", "*")
	bindings.Group = "apis.kcp.io"
	red := apisv1alpha2.PermissionClaimSelector{LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"color": "red"}}}
	g := guard(t, bindings, red)
	if !g.Sees(map[string]string{"internal.apis.kcp.io/export": ownExport}) {
		t.Error("a provider does not see who has bound him")
	}
	if g.Sees(map[string]string{"internal.apis.kcp.io/export": "another"}) {
		t.Error("a provider sees what else is bound")
	}
	if guard(t, claim("configmaps", "*"), red).Sees(map[string]string{"internal.apis.kcp.io/export": ownExport}) {
		t.Error("that label means something on bindings only")
	}
}

func TestRequirements(t *testing.T) {
	const label = "claimed.internal.apis.kcp.io/" + ownExport
	red := apisv1alpha2.PermissionClaimSelector{LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"color": "red"}}}
	bindings := claim("apibindings", "*")
	bindings.Group = "apis.kcp.io"
	for name, tc := range map[string]struct {
		reason string
		guard  *permissionclaims.Guard
		verb   string
		want   string
	}{
		"List":      {"labels follow the answer", guard(t, claim("configmaps", "*"), red), "list", label + " in (3QVjs6pfBjMpLEVYYhysJnroYGsQGlWm05E4qe)"},
		"Watch":     {"also while it changes", guard(t, claim("configmaps", "*"), everything), "watch", label + " in (3QVjs6pfBjMpLEVYYhysJnroYGsQGlWm05E4qe)"},
		"Delete":    {"what may not be listed has no label", guard(t, claim("configmaps", "*"), red), "deletecollection", "color=red"},
		"DeleteAll": {"all is all", guard(t, claim("configmaps", "*"), everything), "deletecollection", ""},
		"Nothing": {
			"what selects nothing is not to select everything", guard(t, claim("configmaps", "*"), apisv1alpha2.PermissionClaimSelector{}), "deletecollection",
			label + " in (3QVjs6pfBjMpLEVYYhysJnroYGsQGlWm05E4qe)",
		},
		"Bindings": {
			"a provider has its own bindings besides", guard(t, bindings, red), "deletecollection",
			label + " in (" + permissionclaims.LabelValue(permissionclaims.NameOf(bindings)) + "," + apihash.Reflexive + ")",
		},
	} {
		t.Run(name, func(t *testing.T) {
			requirements, err := tc.guard.Requirements(tc.verb)
			if err != nil {
				t.Fatal(err)
			}
			if got := labels.NewSelector().Add(requirements...).String(); got != tc.want {
				t.Errorf("%s: got %s, want %s", tc.reason, got, tc.want)
			}
		})
	}
}

func TestContext(t *testing.T) {
	if permissionclaims.GuardFrom(t.Context()) != nil {
		t.Error("a context has a guard that nobody gave it")
	}
	g := guard(t, claim("configmaps", "get"), everything)
	if permissionclaims.GuardFrom(permissionclaims.WithGuard(t.Context(), g)) != g {
		t.Error("the guard is not the one that was given")
	}
	if !g.Allows("get") || g.Allows("create") {
		t.Error("verbs are those of both lists")
	}
}
