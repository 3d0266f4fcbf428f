package permissionclaims

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/sets"

	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/apis/conditions"
)

// shown is how many claims a message names.
const shown = 10

// Settled returns binding with what its status has to say of claims, if that can be said
// without labeling objects: if no claim is accepted and the export is known. Otherwise, or
// if it says so already, it is binding itself, which is not changed.
func Settled(binding *apisv1alpha2.APIBinding) *apisv1alpha2.APIBinding {
	if len(Accepted(binding)) > 0 {
		return binding
	}
	return WithStatus(binding, nil)
}

// WithStatus returns binding with what its status has to say of claims, after the objects
// of the accepted ones have been labeled. failed says for which that has not come to an
// end, and why. The claims of the export have to be in the status already. As long as the
// export is not known, or if all of it is there, it is binding itself, which is not changed.
func WithStatus(binding *apisv1alpha2.APIBinding, failed map[Name]error) *apisv1alpha2.APIBinding {
	if !conditions.IsTrue(binding, apisv1alpha1.APIExportValid) {
		return binding
	}
	// What is set are whole slices.
	wanted := *binding
	setStatus(&wanted, failed)
	if equality.Semantic.DeepEqual(binding.Status.AppliedPermissionClaims, wanted.Status.AppliedPermissionClaims) &&
		equality.Semantic.DeepEqual(binding.Status.Conditions, wanted.Status.Conditions) {
		return binding
	}
	return &wanted
}

// Accepted returns the claims that a binding accepts, by name.
func Accepted(binding *apisv1alpha2.APIBinding) map[Name]apisv1alpha2.AcceptablePermissionClaim {
	var accepted map[Name]apisv1alpha2.AcceptablePermissionClaim
	for _, answer := range binding.Spec.PermissionClaims {
		if answer.State != apisv1alpha2.ClaimAccepted {
			continue
		}
		if accepted == nil {
			accepted = map[Name]apisv1alpha2.AcceptablePermissionClaim{}
		}
		accepted[NameOf(answer.PermissionClaim)] = answer
	}
	return accepted
}

// Exported returns the claims of the export of a binding, by name.
func Exported(binding *apisv1alpha2.APIBinding) map[Name]apisv1alpha2.PermissionClaim {
	exported := make(map[Name]apisv1alpha2.PermissionClaim, len(binding.Status.ExportPermissionClaims))
	for _, claim := range binding.Status.ExportPermissionClaims {
		exported[NameOf(claim)] = claim
	}
	return exported
}

func setStatus(binding *apisv1alpha2.APIBinding, failed map[Name]error) {
	accepted, exported := Accepted(binding), Exported(binding)
	binding.Status.AppliedPermissionClaims = applied(accepted, exported, failed)
	markValid(binding, accepted, exported)
	markApplied(binding, failed)
}

// applied returns the claims that are asked for, accepted and in force.
func applied(accepted map[Name]apisv1alpha2.AcceptablePermissionClaim, exported map[Name]apisv1alpha2.PermissionClaim, failed map[Name]error) []apisv1alpha2.ScopedPermissionClaim {
	var claims []apisv1alpha2.ScopedPermissionClaim
	for _, name := range sorted(accepted) {
		if _, asked := exported[name]; asked && failed[name] == nil {
			answer := accepted[name]
			claims = append(claims, *answer.ScopedPermissionClaim.DeepCopy())
		}
	}
	return claims
}

// markValid says whether the answers fit the claims.
func markValid(binding *apisv1alpha2.APIBinding, accepted map[Name]apisv1alpha2.AcceptablePermissionClaim, exported map[Name]apisv1alpha2.PermissionClaim) {
	var unexpected, mismatched []string
	for _, name := range sorted(accepted) {
		claim, asked := exported[name]
		if !asked {
			unexpected = append(unexpected, fmt.Sprintf("unexpected/invalid claim for %s (identity %q)", name.GroupResource, name.IdentityHash))
		} else if difference := mismatch(claim, accepted[name]); difference != "" {
			mismatched = append(mismatched, fmt.Sprintf("%s (%s)", name.GroupResource, difference))
		}
	}
	switch {
	case len(mismatched) > 0:
		conditions.MarkFalse(binding, apisv1alpha1.PermissionClaimsValid, apisv1alpha1.ReasonPermissionClaimsMismatch, conditions.SeverityWarning,
			"%d permission claim(s) have mismatched verbs or selectors (showing first %d): %s", len(mismatched), min(len(mismatched), shown), join(mismatched))
	case len(unexpected) > 0:
		conditions.MarkFalse(binding, apisv1alpha1.PermissionClaimsValid, apisv1alpha1.ReasonInvalidPermissionClaims, conditions.SeverityError,
			"%d unexpected and/or invalid permission claims (showing first %d): %s", len(unexpected), min(len(unexpected), shown), join(unexpected))
	default:
		conditions.MarkTrue(binding, apisv1alpha1.PermissionClaimsValid)
	}
}

// mismatch says in what an answer differs from its claim, nothing if it does not.
func mismatch(claim apisv1alpha2.PermissionClaim, answer apisv1alpha2.AcceptablePermissionClaim) string {
	var differences []string
	asked, given := sets.New(claim.Verbs...), sets.New(answer.Verbs...)
	if !asked.Has(wildcard) && !given.Has(wildcard) && !asked.Equal(given) {
		differences = append(differences, fmt.Sprintf("verbs: accepted %v, exported %v", sets.List(given), sets.List(asked)))
	}
	if claim.DefaultSelector != nil && !equality.Semantic.DeepEqual(*claim.DefaultSelector, answer.Selector) {
		differences = append(differences, "selector differs from defaultSelector")
	}
	return strings.Join(differences, "; ")
}

// markApplied says whether all objects are labeled.
func markApplied(binding *apisv1alpha2.APIBinding, failed map[Name]error) {
	if len(failed) == 0 {
		conditions.MarkTrue(binding, apisv1alpha1.PermissionClaimsApplied)
		return
	}
	var messages []string
	for _, name := range slices.SortedFunc(maps.Keys(failed), Name.Compare) {
		messages = append(messages, failed[name].Error())
	}
	conditions.MarkFalse(binding, apisv1alpha1.PermissionClaimsApplied, apisv1alpha1.ReasonInternalError, conditions.SeverityError,
		"Permission claims have not been fully applied: %s", join(messages))
}

func sorted(accepted map[Name]apisv1alpha2.AcceptablePermissionClaim) []Name {
	return slices.SortedFunc(maps.Keys(accepted), Name.Compare)
}

// join returns the first messages as one: a list in brackets if there are several.
func join(messages []string) string {
	if len(messages) == 1 {
		return messages[0]
	}
	return "[" + strings.Join(messages[:min(len(messages), shown)], ", ") + "]"
}
