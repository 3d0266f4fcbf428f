package permissionclaims_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/internal/permissionclaims"
	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/apis/conditions"
)

var everything = apisv1alpha2.PermissionClaimSelector{MatchAll: true}

func claim(resource string, verbs ...string) apisv1alpha2.PermissionClaim {
	return apisv1alpha2.PermissionClaim{GroupResource: apisv1alpha2.GroupResource{Resource: resource}, Verbs: verbs}
}

func answer(claim apisv1alpha2.PermissionClaim, state apisv1alpha2.AcceptablePermissionClaimState, selector apisv1alpha2.PermissionClaimSelector) apisv1alpha2.AcceptablePermissionClaim {
	return apisv1alpha2.AcceptablePermissionClaim{
		ScopedPermissionClaim: apisv1alpha2.ScopedPermissionClaim{PermissionClaim: claim, Selector: selector}, State: state,
	}
}

func accept(claim apisv1alpha2.PermissionClaim) apisv1alpha2.AcceptablePermissionClaim {
	return answer(claim, apisv1alpha2.ClaimAccepted, everything)
}

// verdict is what a condition says, without its time.
func verdict(binding *apisv1alpha2.APIBinding, about conditions.Type) string {
	c, ok := conditions.Get(binding, about)
	if !ok {
		return "missing"
	}
	if c.Reason == "" {
		return string(c.Status)
	}
	return fmt.Sprintf("%s %s %s: %s", c.Status, c.Severity, c.Reason, c.Message)
}

func TestStatus(t *testing.T) {
	red := apisv1alpha2.PermissionClaimSelector{LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"color": "red"}}}
	type claims = []apisv1alpha2.PermissionClaim
	type answers = []apisv1alpha2.AcceptablePermissionClaim
	identified := claim("configmaps", "*")
	identified.IdentityHash = "wrong"
	withDefault := claim("configmaps", "*")
	withDefault.DefaultSelector = &red
	many := answers{}
	for i := range 12 {
		many = append(many, accept(claim(fmt.Sprintf("r%02d", i), "*")))
	}
	for name, tc := range map[string]struct {
		reason         string
		exported       claims
		answers        answers
		failed         map[permissionclaims.Name]error
		applied        []string
		valid, labeled string
	}{
		"None": {
			reason: "who is asked for nothing has answered everything",
			valid:  "True", labeled: "True",
		},
		"Unanswered": {
			reason:   "no answer is no mistake",
			exported: claims{claim("configmaps", "*")},
			valid:    "True", labeled: "True",
		},
		"Rejected": {
			reason:   "nor is to reject",
			exported: claims{claim("configmaps", "*")},
			answers:  answers{answer(claim("configmaps", "*"), apisv1alpha2.ClaimRejected, everything)},
			valid:    "True", labeled: "True",
		},
		"Accepted": {
			reason:   "sorted, whatever the order of the answers",
			exported: claims{claim("secrets", "*"), claim("configmaps", "*")},
			answers:  answers{accept(claim("secrets", "*")), accept(claim("configmaps", "*"))},
			applied:  []string{"configmaps", "secrets"},
			valid:    "True", labeled: "True",
		},
		"Unexpected": {
			reason:   "what nobody has asked for is not given",
			exported: claims{claim("configmaps", "*")},
			answers:  answers{accept(claim("configmaps", "*")), accept(claim("secrets", "*"))},
			applied:  []string{"configmaps"},
			valid:    `False Error InvalidPermissionClaims: 1 unexpected and/or invalid permission claims (showing first 1): unexpected/invalid claim for secrets (identity "")`,
			labeled:  "True",
		},
		"WrongIdentity": {
			reason:   "the identity is part of what is claimed",
			exported: claims{claim("configmaps", "*")},
			answers:  answers{accept(identified)},
			valid:    `False Error InvalidPermissionClaims: 1 unexpected and/or invalid permission claims (showing first 1): unexpected/invalid claim for configmaps (identity "wrong")`,
			labeled:  "True",
		},
		"Verbs": {
			reason:   "fewer verbs are applied, and pointed out",
			exported: claims{claim("configmaps", "list", "get")},
			answers:  answers{accept(claim("configmaps", "get"))},
			applied:  []string{"configmaps"},
			valid:    `False Warning PermissionClaimsMismatch: 1 permission claim(s) have mismatched verbs or selectors (showing first 1): configmaps (verbs: accepted [get], exported [get list])`,
			labeled:  "True",
		},
		"AllVerbs": {
			reason:   "where one of both says all, nothing is pointed out",
			exported: claims{claim("configmaps", "*")},
			answers:  answers{accept(claim("configmaps", "get"))},
			applied:  []string{"configmaps"},
			valid:    "True", labeled: "True",
		},
		"Selector": {
			reason:   "the provider has said which objects he needs",
			exported: claims{withDefault},
			answers:  answers{accept(claim("configmaps", "*"))},
			applied:  []string{"configmaps"},
			valid:    `False Warning PermissionClaimsMismatch: 1 permission claim(s) have mismatched verbs or selectors (showing first 1): configmaps (selector differs from defaultSelector)`,
			labeled:  "True",
		},
		"DefaultSelector": {
			reason:   "that selector is fine",
			exported: claims{withDefault},
			answers:  answers{answer(claim("configmaps", "*"), apisv1alpha2.ClaimAccepted, red)},
			applied:  []string{"configmaps"},
			valid:    "True", labeled: "True",
		},
		"MismatchHidesUnexpected": {
			reason:   "there is one condition, and it names the mismatch",
			exported: claims{claim("configmaps", "get")},
			answers:  answers{accept(claim("configmaps", "list")), accept(claim("secrets", "*"))},
			applied:  []string{"configmaps"},
			valid:    `False Warning PermissionClaimsMismatch: 1 permission claim(s) have mismatched verbs or selectors (showing first 1): configmaps (verbs: accepted [list], exported [get])`,
			labeled:  "True",
		},
		"Failed": {
			reason:   "what has not been labeled is not in force",
			exported: claims{claim("configmaps", "*"), claim("secrets", "*")},
			answers:  answers{accept(claim("configmaps", "*")), accept(claim("secrets", "*"))},
			failed:   map[permissionclaims.Name]error{{GroupResource: schema.GroupResource{Resource: "secrets"}}: errors.New("no room")},
			applied:  []string{"configmaps"},
			valid:    "True",
			labeled:  "False Error InternalError: Permission claims have not been fully applied: no room",
		},
		"Many": {
			reason:  "a message has an end",
			answers: many,
			valid: `False Error InvalidPermissionClaims: 12 unexpected and/or invalid permission claims (showing first 10): [` +
				`unexpected/invalid claim for r00 (identity ""), unexpected/invalid claim for r01 (identity ""), ` +
				`unexpected/invalid claim for r02 (identity ""), unexpected/invalid claim for r03 (identity ""), ` +
				`unexpected/invalid claim for r04 (identity ""), unexpected/invalid claim for r05 (identity ""), ` +
				`unexpected/invalid claim for r06 (identity ""), unexpected/invalid claim for r07 (identity ""), ` +
				`unexpected/invalid claim for r08 (identity ""), unexpected/invalid claim for r09 (identity "")]`,
			labeled: "True",
		},
	} {
		t.Run(name, func(t *testing.T) {
			binding := &apisv1alpha2.APIBinding{}
			binding.Spec.PermissionClaims, binding.Status.ExportPermissionClaims = tc.answers, tc.exported
			conditions.MarkTrue(binding, apisv1alpha1.APIExportValid)
			observed := binding.DeepCopy()
			wanted := permissionclaims.WithStatus(binding, tc.failed)
			if diff := cmp.Diff(observed, binding); diff != "" {
				t.Errorf("what was observed has been changed (-want +got):\n%s", diff)
			}
			if permissionclaims.WithStatus(wanted, tc.failed) != wanted {
				t.Error("what says everything is said anew")
			}
			binding = wanted
			var applied []string
			for _, claim := range binding.Status.AppliedPermissionClaims {
				applied = append(applied, claim.Resource)
			}
			if diff := cmp.Diff(tc.applied, applied); diff != "" {
				t.Errorf("%s: applied (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.valid, verdict(binding, apisv1alpha1.PermissionClaimsValid)); diff != "" {
				t.Errorf("%s: valid (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.labeled, verdict(binding, apisv1alpha1.PermissionClaimsApplied)); diff != "" {
				t.Errorf("%s: labeled (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestSettled(t *testing.T) {
	stale := []apisv1alpha2.ScopedPermissionClaim{{}}
	unknown := &apisv1alpha2.APIBinding{}
	unknown.Status.AppliedPermissionClaims = stale
	if permissionclaims.Settled(unknown) != unknown {
		t.Error("something is said of an export that is not known")
	}
	binding := unknown.DeepCopy()
	conditions.MarkTrue(binding, apisv1alpha1.APIExportValid)
	settled := permissionclaims.Settled(binding)
	if len(settled.Status.AppliedPermissionClaims) > 0 || !conditions.IsTrue(settled, apisv1alpha1.PermissionClaimsApplied) ||
		!conditions.IsTrue(settled, apisv1alpha1.PermissionClaimsValid) {
		t.Errorf("without answers there is nothing to wait for: %+v", settled.Status)
	}
	waiting := binding.DeepCopy()
	waiting.Spec.PermissionClaims = []apisv1alpha2.AcceptablePermissionClaim{accept(claim("configmaps", "*"))}
	if permissionclaims.Settled(waiting) != waiting {
		t.Error("what has to be labeled is settled")
	}
}
