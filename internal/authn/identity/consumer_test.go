package identity

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

func TestConsumer(t *testing.T) {
	const app = "system:serviceaccount:ns:app"
	provider := logicalcluster.MustParseName("provider")
	named := func(name string, groups ...string) identityOf {
		for i := range groups {
			groups[i] = BindingPrefix + groups[i]
		}
		return identityOf{BindingPrefix + name, groups}
	}
	table := map[string]struct {
		reason string
		user   user.Info
		want   []identityOf
	}{
		"Plain":      {"a user goes by his name and groups", member("u"), []identityOf{named("u", "g", user.AllAuthenticated)}},
		"InProvider": {"so does one who counts as himself with the provider", member("u", ScopesKey, "cluster:provider"), []identityOf{named("u", "g", user.AllAuthenticated)}},
		"Scoped": {
			"who is himself in his own workspace only may have claimed to be anybody there",
			member("u", ScopesKey, "cluster:here"), []identityOf{named(user.Anonymous, user.AllAuthenticated, "system:cluster:here")},
		},
		"ServiceAccount": {
			"a service account goes by its global name, at home as well",
			&user.DefaultInfo{Name: app, Groups: []string{"claimed"}, Extra: map[string][]string{ClusterNameKey: {"here"}, ScopesKey: {"cluster:here"}}},
			[]identityOf{named("system:kcp:serviceaccount:here:ns:app",
				"system:serviceaccounts", "system:serviceaccounts:ns", user.AllAuthenticated, "system:cluster:here")},
		},
		"ServiceAccountOfProvider": {
			"and where the policy is written: there are others of its name",
			member(app, ClusterNameKey, "provider", ScopesKey, "cluster:provider"),
			[]identityOf{named("system:kcp:serviceaccount:provider:ns:app",
				"system:serviceaccounts", "system:serviceaccounts:ns", user.AllAuthenticated, "system:cluster:provider")},
		},
		"UnscopedServiceAccount": {
			"the server itself names accounts without scopes, and is believed",
			member(app, ClusterNameKey, "here"), []identityOf{named("system:kcp:serviceaccount:here:ns:app", "g", user.AllAuthenticated)},
		},
		"ClaimedOrigin": {
			"an origin that the scopes exclude is not believed",
			member(app, ClusterNameKey, "there", ScopesKey, "cluster:here"),
			[]identityOf{named(user.Anonymous, user.AllAuthenticated, "system:cluster:here")},
		},
		"NoOrigin": {"a service account of nowhere is nobody", member(app), []identityOf{named(user.Anonymous, user.AllAuthenticated)}},
		"Warrant": {
			"warrants come on top, and have scopes of their own",
			member("u", WarrantKey, NewWarrant(member("w")).String(), WarrantKey, NewWarrant(member("x", ScopesKey, "cluster:here")).String(), WarrantKey, "garbage"),
			[]identityOf{
				named("u", "g", user.AllAuthenticated), named("w", "g", user.AllAuthenticated),
				named(user.Anonymous, user.AllAuthenticated, "system:cluster:here"),
			},
		},
	}
	for name, tc := range table {
		t.Run(name, func(t *testing.T) {
			var got []identityOf
			for _, u := range Consumer(tc.user, provider) {
				got = append(got, identityOf{u.GetName(), u.GetGroups()})
				if len(u.GetExtra()) > 0 {
					t.Errorf("%s still has extra %v, which would be looked at again", u.GetName(), u.GetExtra())
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}

	nested := member("innermost")
	for range maxWarrantDepth + 3 {
		nested = member("u", WarrantKey, NewWarrant(nested).String())
	}
	if got := len(Consumer(nested, provider)); got != maxWarrantDepth+1 {
		t.Errorf("warrants are followed to a depth of %d, got %d identities", maxWarrantDepth, got)
	}
}
