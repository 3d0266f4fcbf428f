package identity

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiserver/pkg/authentication/user"
)

func TestOutside(t *testing.T) {
	const app = "system:serviceaccount:ns:app"
	stranger := func(groups ...string) identityOf {
		return identityOf{user.Anonymous, append([]string{user.AllAuthenticated}, groups...)}
	}
	for name, tc := range map[string]struct {
		reason string
		user   *user.DefaultInfo
		want   identityOf
		extra  map[string][]string
	}{
		"Plain": {
			"a user is himself", member("u", "color", "red"),
			identityOf{"u", []string{"g", user.AllAuthenticated}}, map[string][]string{"color": {"red"}},
		},
		"Warrant": {
			"what others lend him is for clusters to judge", member("u", WarrantKey, NewWarrant(member("w")).String()),
			identityOf{"u", []string{"g", user.AllAuthenticated}}, nil,
		},
		"Scoped": {
			"who is himself in one cluster may have been made up there", member("u", ScopesKey, "cluster:here"),
			stranger("system:cluster:here"), nil,
		},
		"ServiceAccount": {
			"every cluster has an account of that name", member(app, ClusterNameKey, "here", ScopesKey, "cluster:here"),
			identityOf{"system:kcp:serviceaccount:here:ns:app", []string{user.AllAuthenticated, "system:cluster:here"}}, nil,
		},
		"NoOrigin":      {"one of nowhere is nobody", member(app), stranger(), nil},
		"ClaimedOrigin": {"an origin that is not believed is none", member(app, ClusterNameKey, "there", ScopesKey, "cluster:here"), stranger("system:cluster:here"), nil},
		"Anonymous": {
			"nobody stays nobody", &user.DefaultInfo{Name: user.Anonymous, Groups: []string{user.AllUnauthenticated}},
			identityOf{user.Anonymous, []string{user.AllUnauthenticated}}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := Outside(tc.user)
			if diff := cmp.Diff(tc.want, identityOf{got.GetName(), got.GetGroups()}); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if len(got.GetExtra()) != len(tc.extra) || cmp.Diff(tc.extra["color"], got.GetExtra()["color"]) != "" {
				t.Errorf("%s: extra is %v", tc.reason, got.GetExtra())
			}
		})
	}
}
