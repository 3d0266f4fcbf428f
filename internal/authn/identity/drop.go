package identity

import (
	"slices"
	"strings"

	"k8s.io/apiserver/pkg/authentication/user"
)

// DropGroups returns u without the groups that drop names, those of his warrants
// included: a warrant gives the power of its groups. u is not changed, and is returned
// as he is if there is nothing to drop.
func DropGroups(u user.Info, drop func(group string) bool) user.Info {
	if !slices.ContainsFunc(ClaimedGroups(u), drop) {
		return u
	}
	return dropGroups(u, drop, 0)
}

func dropGroups(u user.Info, drop func(group string) bool, depth int) *user.DefaultInfo {
	kept := &user.DefaultInfo{
		Name:   u.GetName(),
		UID:    u.GetUID(),
		Groups: slices.DeleteFunc(slices.Clone(u.GetGroups()), drop),
		Extra:  u.GetExtra(),
	}
	warrants := kept.Extra[WarrantKey]
	if len(warrants) == 0 {
		return kept
	}
	kept.Extra = make(map[string][]string, len(u.GetExtra()))
	for key, values := range u.GetExtra() {
		kept.Extra[key] = values
	}
	kept.Extra[WarrantKey] = dropFromWarrants(warrants, drop, depth+1)
	return kept
}

// dropFromWarrants returns warrants without those groups. Warrants that cannot be decoded
// would be ignored anyhow and are left out, as are those too deep to be followed.
func dropFromWarrants(warrants []string, drop func(group string) bool, depth int) []string {
	if depth > maxWarrantDepth {
		return nil
	}
	kept := make([]string, 0, len(warrants))
	for _, value := range warrants {
		w, err := ParseWarrant(value)
		if err != nil {
			continue
		}
		kept = append(kept, NewWarrant(dropGroups(w.userInfo(), drop, depth)).String())
	}
	return kept
}

// GroupPatterns returns what says whether a group is one of those that patterns name. A
// "*" at the end of a pattern stands for any end.
func GroupPatterns(patterns []string) func(group string) bool {
	return func(group string) bool {
		return slices.ContainsFunc(patterns, func(pattern string) bool {
			if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
				return strings.HasPrefix(group, prefix)
			}
			return pattern == group
		})
	}
}
