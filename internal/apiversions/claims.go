package apiversions

import (
	"slices"

	"github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	"github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
)

// claimKey is what claims are known by in both versions.
type claimKey struct{ group, resource, identityHash string }

func keyOf1(c *v1alpha1.PermissionClaim) claimKey {
	return claimKey{c.Group, c.Resource, c.IdentityHash}
}

func keyOf2(c *v1alpha2.PermissionClaim) claimKey {
	return claimKey{c.Group, c.Resource, c.IdentityHash}
}

// index returns items by key; of several with the same one the first.
func index[T any](items []T, key func(*T) claimKey) map[claimKey]*T {
	found := make(map[claimKey]*T, len(items))
	for i := range items {
		if k := key(&items[i]); found[k] == nil {
			found[k] = &items[i]
		}
	}
	return found
}

// anyVerb is what claims mean that do not say for which verbs they are.
const anyVerb = "*"

func isForAnyVerb(c *v1alpha2.PermissionClaim) bool {
	return slices.Equal(c.Verbs, []string{anyVerb}) && c.DefaultSelector == nil
}

// isForAll says whether a claim can be said in v1alpha1 without an annotation.
func isForAll(c *v1alpha2.ScopedPermissionClaim) bool {
	return isForAnyVerb(&c.PermissionClaim) && isMatchAll(&c.Selector)
}

func isMatchAll(s *v1alpha2.PermissionClaimSelector) bool {
	return s.MatchAll && len(s.MatchLabels) == 0 && len(s.MatchExpressions) == 0
}

// asClaim1 returns c in v1alpha1, as original says if there is one.
func asClaim1(c *v1alpha2.PermissionClaim, all bool, original *v1alpha1.PermissionClaim) v1alpha1.PermissionClaim {
	out := v1alpha1.PermissionClaim{
		GroupResource: v1alpha1.GroupResource(c.GroupResource),
		IdentityHash:  c.IdentityHash,
		All:           all,
	}
	if original != nil {
		out.All, out.ResourceSelector = original.All, original.ResourceSelector
	}
	return out
}

// asClaim2 returns c in v1alpha2, with the verbs and default selector of saved if there
// is one.
func asClaim2(c *v1alpha1.PermissionClaim, saved *v1alpha2.PermissionClaim) v1alpha2.PermissionClaim {
	out := v1alpha2.PermissionClaim{
		GroupResource: v1alpha2.GroupResource(c.GroupResource),
		IdentityHash:  c.IdentityHash,
		Verbs:         []string{anyVerb},
	}
	if saved != nil && len(saved.Verbs) > 0 {
		out.Verbs, out.DefaultSelector = saved.Verbs, saved.DefaultSelector
	}
	return out
}

// asScoped2 is asClaim2 for a claim that says which objects it is for. Those that
// v1alpha1 names count as all. A client of v1alpha1 that says all means it, whatever was
// said before.
func asScoped2(c *v1alpha1.PermissionClaim, saved *v1alpha2.ScopedPermissionClaim) v1alpha2.ScopedPermissionClaim {
	if saved == nil {
		return v1alpha2.ScopedPermissionClaim{
			PermissionClaim: asClaim2(c, nil),
			Selector:        v1alpha2.PermissionClaimSelector{MatchAll: true},
		}
	}
	out := v1alpha2.ScopedPermissionClaim{PermissionClaim: asClaim2(c, &saved.PermissionClaim), Selector: saved.Selector}
	isEmpty := !saved.Selector.MatchAll && len(saved.Selector.MatchLabels) == 0 && len(saved.Selector.MatchExpressions) == 0
	if c.All || isEmpty {
		out.Selector = v1alpha2.PermissionClaimSelector{MatchAll: true}
	}
	return out
}

// exportClaims1 returns the claims of an export in v1alpha1, and those that are kept in an
// annotation.
func exportClaims1(claims []v1alpha2.PermissionClaim, originals []v1alpha1.PermissionClaim) (out []v1alpha1.PermissionClaim, kept []v1alpha2.PermissionClaim) {
	original := index(originals, keyOf1)
	for i := range claims {
		c := &claims[i]
		out = append(out, asClaim1(c, true, original[keyOf2(c)]))
		if !isForAnyVerb(c) {
			kept = append(kept, *c)
		}
	}
	return out, kept
}

// exportClaims2 returns the claims of an export in v1alpha2.
func exportClaims2(claims []v1alpha1.PermissionClaim, saved []v1alpha2.PermissionClaim) []v1alpha2.PermissionClaim {
	found := index(saved, keyOf2)
	var out []v1alpha2.PermissionClaim
	for i := range claims {
		c := &claims[i]
		out = append(out, asClaim2(c, found[keyOf1(c)]))
	}
	return out
}

// naming returns the claims that name objects, which v1alpha2 has no word for.
func naming(claims []v1alpha1.PermissionClaim) []v1alpha1.PermissionClaim {
	var out []v1alpha1.PermissionClaim
	for i := range claims {
		if len(claims[i].ResourceSelector) > 0 {
			out = append(out, claims[i])
		}
	}
	return out
}
