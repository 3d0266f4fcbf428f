package claims

import (
	"cmp"
	"slices"

	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/cli/claim"
)

// What is known about the answer to a claim.
const (
	reasonApplied       = "Applied"
	reasonNotClaimed    = "NotClaimed"
	reasonOtherIdentity = "OtherIdentity"
	reasonOtherVerbs    = "OtherVerbs"
	reasonPending       = "Pending"

	statusOpen = "Open"
	// nothing stands where there is nothing to say.
	nothing = "-"
)

// row is a claim as it is shown.
type row struct {
	binding, resource, verbs, status        string
	identity, selector, exportVerbs, reason string
}

var headers = row{
	binding: "APIBINDING", resource: "GROUP-RESOURCE", verbs: "VERBS", status: "STATUS",
	identity: "IDENTITY", selector: "SELECTOR", exportVerbs: "EXPORT-VERBS", reason: "STATE-REASON",
}

// rows returns the claims of a binding: those that are answered, in the order in which
// they stand there, then those that are not.
func rows(binding *apisv1alpha2.APIBinding) []row {
	var all []row
	for _, answer := range binding.Spec.PermissionClaims {
		r := newRow(binding, answer.PermissionClaim)
		r.status = cmp.Or(string(answer.State), statusOpen)
		r.selector = claim.FormatSelector(answer.Selector)
		if asked := find(binding.Status.ExportPermissionClaims, answer.PermissionClaim); asked != nil {
			r.exportVerbs = claim.FormatVerbs(asked.Verbs)
		}
		if answer.State == apisv1alpha2.ClaimAccepted {
			r.reason = reason(binding, answer.PermissionClaim)
		}
		all = append(all, r)
	}
	for _, open := range claim.Open(binding) {
		if find(claimsOf(binding.Spec.PermissionClaims), open) != nil {
			// It is there, without an answer.
			continue
		}
		r := newRow(binding, open)
		r.status, r.exportVerbs = statusOpen, claim.FormatVerbs(open.Verbs)
		all = append(all, r)
	}
	return all
}

func newRow(binding *apisv1alpha2.APIBinding, c apisv1alpha2.PermissionClaim) row {
	return row{
		binding: binding.Name, resource: claim.Resource(c), verbs: claim.FormatVerbs(c.Verbs),
		identity: cmp.Or(c.IdentityHash, nothing), selector: nothing, exportVerbs: nothing, reason: nothing,
	}
}

// reason says what became of a claim that was accepted.
func reason(binding *apisv1alpha2.APIBinding, accepted apisv1alpha2.PermissionClaim) string {
	asked := find(binding.Status.ExportPermissionClaims, accepted)
	applied := slices.ContainsFunc(binding.Status.AppliedPermissionClaims, func(c apisv1alpha2.ScopedPermissionClaim) bool {
		return claim.SameObjects(c.PermissionClaim, accepted)
	})
	switch {
	case asked != nil && !claim.SameVerbs(asked.Verbs, accepted.Verbs):
		return reasonOtherVerbs
	case applied:
		return reasonApplied
	case asked != nil:
		return reasonPending
	case slices.ContainsFunc(binding.Status.ExportPermissionClaims, func(c apisv1alpha2.PermissionClaim) bool {
		return c.GroupResource == accepted.GroupResource
	}):
		return reasonOtherIdentity
	default:
		return reasonNotClaimed
	}
}

func find(claims []apisv1alpha2.PermissionClaim, c apisv1alpha2.PermissionClaim) *apisv1alpha2.PermissionClaim {
	i := slices.IndexFunc(claims, func(other apisv1alpha2.PermissionClaim) bool { return claim.SameObjects(other, c) })
	if i < 0 {
		return nil
	}
	return &claims[i]
}

func claimsOf(answers []apisv1alpha2.AcceptablePermissionClaim) []apisv1alpha2.PermissionClaim {
	claims := make([]apisv1alpha2.PermissionClaim, 0, len(answers))
	for _, a := range answers {
		claims = append(claims, a.PermissionClaim)
	}
	return claims
}
