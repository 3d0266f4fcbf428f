package diagnosis_test

import (
	"slices"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/pkg/cli/diagnosis"
	"github.com/forkless/kcp/pkg/logicalcluster"
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

// TestPermitReadingMore: who follows the steps for what came later keeps what the first ones
// gave, to himself and to others.
func TestPermitReadingMore(t *testing.T) {
	first, later := schema.GroupResource{Group: "c.io", Resource: "issuers"}, schema.GroupResource{Resource: "configmaps"}
	commands := diagnosis.Commands{URL: func(p logicalcluster.Path) string { return "https://server/clusters/" + p.String() }}
	role := func(user string, resources ...schema.GroupResource) string {
		steps := diagnosis.PermitReading(commands, logicalcluster.Root.Path(), user, resources)
		i := slices.IndexFunc(steps, func(step string) bool { return strings.Contains(step, "--clusterrole=") })
		if i < 0 {
			t.Fatalf("no step binds a role: %q", steps)
		}
		_, name, _ := strings.Cut(steps[i], "--clusterrole=")
		return strings.Fields(name)[0]
	}
	if a, b := role("bob", first), role("bob", later); a == b {
		t.Errorf("role %s would be replaced by one for other resources", a)
	}
	if a, b := role("bob", first), role("bob", first, later); a == b {
		t.Errorf("role %s would be replaced by one for more resources", a)
	}
	if a, b := role("bob", first, later), role("eve", first, later); a != b {
		t.Errorf("the same is granted by %s and %s", a, b)
	}
}
