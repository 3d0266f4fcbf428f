package identity

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiserver/pkg/authentication/user"
)

func TestDropGroups(t *testing.T) {
	drop := GroupPatterns([]string{"system:masters", InitializerPrefix + "*"})
	warrant := func(groups ...string) string { return Warrant{User: "w", Groups: groups}.String() }
	nested := func(groups ...string) string {
		return Warrant{User: "v", Extra: map[string][]string{WarrantKey: {warrant(groups...)}}}.String()
	}
	extra := func(warrants ...string) map[string][]string {
		return map[string][]string{"other": {"x"}, WarrantKey: warrants}
	}
	for name, tc := range map[string]struct {
		reason     string
		user, want user.DefaultInfo
	}{
		"Nothing": {
			"who has none of them stays as he is",
			user.DefaultInfo{Name: "u", UID: "1", Groups: []string{"a"}},
			user.DefaultInfo{Name: "u", UID: "1", Groups: []string{"a"}},
		},
		"Exact": {
			"a name is that group, and no longer one",
			user.DefaultInfo{Name: "u", UID: "1", Groups: []string{"a", Masters, Masters + "2"}},
			user.DefaultInfo{Name: "u", UID: "1", Groups: []string{"a", Masters + "2"}},
		},
		"Prefix": {
			"a star is any end, none included",
			user.DefaultInfo{Name: "u", Groups: []string{InitializerPrefix + "root:a", "a", InitializerPrefix}},
			user.DefaultInfo{Name: "u", Groups: []string{"a"}},
		},
		"Warrant": {
			"a warrant would give the power of its groups",
			user.DefaultInfo{Name: "u", Groups: []string{"a"}, Extra: extra(warrant("b", Masters))},
			user.DefaultInfo{Name: "u", Groups: []string{"a"}, Extra: extra(warrant("b"))},
		},
		"NestedWarrant": {
			"however deep it is",
			user.DefaultInfo{Name: "u", Groups: []string{}, Extra: extra("{", nested("b", Masters))},
			user.DefaultInfo{Name: "u", Groups: []string{}, Extra: extra(nested("b"))},
		},
	} {
		t.Run(name, func(t *testing.T) {
			before := ClaimedGroups(&tc.user)
			got := DropGroups(&tc.user, drop)
			if diff := cmp.Diff(&tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(before, ClaimedGroups(&tc.user)); diff != "" {
				t.Errorf("the user belongs to others and must not change: %s", diff)
			}
		})
	}
}
