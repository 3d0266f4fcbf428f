package identity

import (
	"slices"

	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Plain says whether u is the same everywhere: nothing in his extra makes him
// somebody else in some cluster, and Effective returns him alone. It is the usual
// case, and telling it apart saves a list per request.
func Plain(u user.Info) bool {
	extra := u.GetExtra()
	return len(extra) == 0 ||
		len(extra[ScopesKey]) == 0 && len(extra[ClusterNameKey]) == 0 && len(extra[WarrantKey]) == 0
}

// Effective returns the identities that u has in cluster. A policy that grants
// something to any of them grants it to u. There is always at least one:
//
//   - u himself where he is in scope, otherwise an anonymous stand-in that only tells
//     whether and from which clusters u was authenticated;
//   - a service account moreover by its global name, with which other clusters may
//     grant it something. Where scopes say otherwise the origin that is claimed is
//     not believed, so that an impersonated origin is worth nothing elsewhere;
//   - the effective identities of each warrant.
func Effective(u user.Info, cluster logicalcluster.Name) []user.Info {
	if Plain(u) {
		return []user.Info{u}
	}
	return appendEffective(nil, u, cluster, 0)
}

func appendEffective(users []user.Info, u user.Info, cluster logicalcluster.Name, depth int) []user.Info {
	extra := u.GetExtra()
	switch {
	case !InScope(u, cluster):
		users = append(users, outsider(u))
	case depth > 0:
		users = append(users, withGroups(u, clusterGroups(extra[ScopesKey])))
	default:
		users = append(users, u)
	}
	if global, ok := globalServiceAccount(u); ok {
		users = append(users, global)
	}
	if depth == maxWarrantDepth {
		return users
	}
	for _, value := range extra[WarrantKey] {
		w, err := ParseWarrant(value)
		if err != nil {
			continue
		}
		warranted := w.userInfo()
		if IsServiceAccount(warranted) && len(warranted.Extra[ClusterNameKey]) == 0 {
			// The name alone says nothing: every cluster has a default/default.
			continue
		}
		users = appendEffective(users, warranted, cluster, depth+1)
	}
	return users
}

// outsider returns what is left of u where he is out of scope.
func outsider(u user.Info) user.Info {
	if !InGroup(u, user.AllAuthenticated) {
		return &user.DefaultInfo{Name: user.Anonymous, Groups: []string{user.AllUnauthenticated}}
	}
	return &user.DefaultInfo{
		Name:   user.Anonymous,
		Groups: append([]string{user.AllAuthenticated}, clusterGroups(u.GetExtra()[ScopesKey])...),
	}
}

// globalServiceAccount returns the name that u has in every cluster. ok is false if u
// is no service account, does not come from exactly one cluster, or is limited to
// clusters that the one he claims to come from is not among.
func globalServiceAccount(u user.Info) (global user.Info, ok bool) {
	extra := u.GetExtra()
	origin := extra[ClusterNameKey]
	if len(origin) != 1 || !IsServiceAccount(u) || !scopesContain(extra[ScopesKey], origin[0]) {
		return nil, false
	}
	namespace, name, err := serviceaccount.SplitUsername(u.GetName())
	if err != nil {
		return nil, false
	}
	return &user.DefaultInfo{
		Name:   globalServiceAccountPrefix + origin[0] + ":" + namespace + ":" + name,
		Groups: append([]string{user.AllAuthenticated}, clusterGroups(extra[ScopesKey])...),
	}, true
}

func withGroups(u user.Info, groups []string) user.Info {
	if len(groups) == 0 {
		return u
	}
	return &user.DefaultInfo{
		Name:   u.GetName(),
		UID:    u.GetUID(),
		Groups: append(slices.Clone(u.GetGroups()), groups...),
		Extra:  u.GetExtra(),
	}
}
