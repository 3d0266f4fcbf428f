package identity

import (
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Consumer returns the identities of u as the maximal permission policy of an export names
// them, which is written in the cluster provider: each with BindingPrefix before its name
// and its groups. A policy that grants something to any of them grants it to u.
//
// They are those that he has in the provider's cluster, not in the one where he uses the
// export: what somebody may claim to be in his own workspace, where he may impersonate
// whom he likes, is worth nothing to a provider. Service accounts go by their global names
// everywhere, since others have accounts of the same name, and have the groups that follow
// from these.
func Consumer(u user.Info, provider logicalcluster.Name) []user.Info {
	return appendConsumer(nil, u, provider, 0)
}

func appendConsumer(users []user.Info, u user.Info, provider logicalcluster.Name, depth int) []user.Info {
	users = append(users, prefixed(consumer(u, provider)))
	if depth == maxWarrantDepth {
		return users
	}
	for _, value := range u.GetExtra()[WarrantKey] {
		w, err := ParseWarrant(value)
		if err != nil {
			continue
		}
		users = appendConsumer(users, w.userInfo(), provider, depth+1)
	}
	return users
}

// consumer returns who u is to a provider, himself alone.
func consumer(u user.Info, provider logicalcluster.Name) user.Info {
	scopes := u.GetExtra()[ScopesKey]
	if IsServiceAccount(u) {
		global, ok := globalServiceAccount(u)
		if !ok {
			return outsider(u)
		}
		groups := u.GetGroups()
		if len(scopes) > 0 {
			// Groups beyond those that every account has may have been claimed.
			namespace, _, _ := serviceaccount.SplitUsername(u.GetName())
			groups = append(serviceaccount.MakeGroupNames(namespace), global.GetGroups()...)
		}
		return &user.DefaultInfo{Name: global.GetName(), Groups: groups}
	}
	if !scopesContain(scopes, provider.String()) {
		return outsider(u)
	}
	return u
}

func prefixed(u user.Info) user.Info {
	groups := make([]string, 0, len(u.GetGroups()))
	for _, group := range u.GetGroups() {
		groups = append(groups, BindingPrefix+group)
	}
	return &user.DefaultInfo{Name: BindingPrefix + u.GetName(), Groups: groups}
}
