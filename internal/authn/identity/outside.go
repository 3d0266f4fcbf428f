package identity

import (
	"maps"

	"k8s.io/apiserver/pkg/authentication/user"
)

// Outside returns who u is for servers that know nothing of logical clusters, and would take
// his name for that of somebody of their own: a user who is the same in all clusters as he
// is, a service account by its global name, and all others as strangers who tell where they
// come from. Nothing that the extra says about clusters is left.
func Outside(u user.Info) user.Info {
	global, isGlobal := globalServiceAccount(u)
	switch {
	case isGlobal:
		return global
	case IsServiceAccount(u), len(u.GetExtra()[ScopesKey]) > 0:
		return outsider(u)
	}
	extra := maps.Clone(u.GetExtra())
	for _, key := range []string{ScopesKey, ClusterNameKey, WarrantKey} {
		delete(extra, key)
	}
	return &user.DefaultInfo{Name: u.GetName(), UID: u.GetUID(), Groups: u.GetGroups(), Extra: extra}
}
