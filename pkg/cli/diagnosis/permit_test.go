package diagnosis_test

import (
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/forkless/kcp/pkg/cli/diagnosis"
)

func TestKnownAs(t *testing.T) {
	account := func(origins ...string) authenticationv1.UserInfo {
		return authenticationv1.UserInfo{Username: "system:serviceaccount:ns:a", Extra: map[string]authenticationv1.ExtraValue{diagnosis.OriginKey: origins}}
	}
	for name, c := range map[string]struct {
		reason string
		user   authenticationv1.UserInfo
		want   string
	}{
		"User":    {"users have one name", authenticationv1.UserInfo{Username: "bob"}, "bob"},
		"Account": {"there are accounts of the same name elsewhere", account("abc"), "system:kcp:serviceaccount:abc:ns:a"},
		"NoOrigin": {
			"an account that comes from nowhere is known elsewhere by no name at all; its own is what is left", account(), "system:serviceaccount:ns:a",
		},
		"Several": {"nor is one that claims to come from several workspaces", account("abc", "def"), "system:serviceaccount:ns:a"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := diagnosis.KnownAs(c.user); got != c.want {
				t.Errorf("%s: got %s, want %s", c.reason, got, c.want)
			}
		})
	}
}
