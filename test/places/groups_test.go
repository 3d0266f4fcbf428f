package places

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/forkless/kcp/internal/servertest"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

const (
	requiredGroupsKey = "authorization.kcp.io/required-groups"
	carol, carolName  = "user-3-token", "user-3"
)

// TestRequiredGroups is row 56. Every user of the server is in a group of his own: user-1 in
// team-1, and so on.
func TestRequiredGroups(t *testing.T) {
	s := newSuite(t, servertest.Start(t, servertest.WithUsers(t)))
	t.Run("Copied", func(t *testing.T) { groupsCopied(t, s) })
	t.Run("Expressions", func(t *testing.T) { groupExpressions(t, s) })
	t.Run("ServiceAccounts", func(t *testing.T) { groupsSpareAccounts(t, s) })
	t.Run("Chosen", func(t *testing.T) { groupsChosen(t, s) })
}

// groupsCopied shows that the annotation goes from a parent to new children, and not again.
func groupsCopied(t *testing.T, s *suite) {
	path := s.universal(t, aliceName, bobName)
	admin := s.as(t, s.admin, path)
	admin.create("before", `{}`).must(t)
	admin.annotate(clusterAPI, requiredGroupsKey, `"team-1"`).must(t)
	s.as(t, bob, path).answers(configMaps, 403)
	s.as(t, alice, path).get(configMaps).is(t, 200)

	inside := s.as(t, alice, path)
	inside.create("child", `{}`).must(t)
	child := inside.phase("child", corev1alpha1.PhaseReady)
	lc := s.as(t, alice, path+":child").cluster()
	if child.Annotations[requiredGroupsKey] != "team-1" || lc.Annotations[requiredGroupsKey] != "team-1" {
		t.Errorf("got %v on the workspace, %v on its cluster", child.Annotations, lc.Annotations)
	}
	s.as(t, alice, path+":child").admit(bobName)
	s.as(t, alice, path+":child").admit(carolName)
	for _, place := range []string{path + ":child", lc.Annotations[logicalcluster.AnnotationKey]} {
		for _, url := range []string{configMaps, "/api", "/version", clusterAPI} {
			s.as(t, bob, place).get(url).is(t, 403, "access denied")
			s.as(t, alice, place).get(url).is(t, 200)
			s.as(t, s.admin, place).get(url).is(t, 200)
			s.as(t, s.master, place).get(url).is(t, 200)
		}
	}
	s.as(t, alice, path+":child").create("grandchild", `{}`).must(t)
	s.as(t, alice, path+":child").phase("grandchild", corev1alpha1.PhaseReady)
	if got := s.as(t, alice, path+":child:grandchild").cluster().Annotations[requiredGroupsKey]; got != "team-1" {
		t.Errorf("it goes on to the children of children, but got %q", got)
	}

	// Later changes stay where they are.
	admin.annotate(clusterAPI, requiredGroupsKey, `"team-2"`).must(t)
	s.as(t, bob, path).answers(configMaps, 200)
	s.as(t, alice, path).answers(configMaps, 403)
	s.as(t, bob, path+":child").get(configMaps).is(t, 403)
	s.as(t, alice, path+":child").get(configMaps).is(t, 200)
	admin.annotate(clusterAPI, requiredGroupsKey, "null").must(t)
	s.as(t, alice, path).answers(configMaps, 200)
	s.as(t, bob, path+":child").get(configMaps).is(t, 403)
	inside.create("after", `{}`).must(t)
	for _, name := range []string{"before", "after"} {
		if ws := inside.phase(name, corev1alpha1.PhaseReady); ws.Annotations[requiredGroupsKey] != "" {
			t.Errorf("%s: got %v", name, ws.Annotations)
		}
	}
}

// groupExpressions shows that a semicolon separates alternatives, and a comma what is needed
// together.
func groupExpressions(t *testing.T, s *suite) {
	path := s.universal(t, aliceName, bobName, carolName)
	for _, tc := range []struct {
		groups           string
		alice, bob, karl int
	}{
		{"team-1", 200, 403, 403},
		{"team-1;team-2", 200, 200, 403},
		{"team-1,team-2", 403, 403, 403},
		{"team-1,system:authenticated;team-3", 200, 403, 200},
		{"team-1,team-2;team-2,system:authenticated", 403, 200, 403},
		{"", 403, 403, 403},
		{";", 403, 403, 403},
		{"team-1,", 403, 403, 403},
	} {
		s.as(t, s.admin, path).annotate(clusterAPI, requiredGroupsKey, fmt.Sprintf("%q", tc.groups)).must(t)
		for token, code := range map[string]int{alice: tc.alice, bob: tc.bob, carol: tc.karl, s.admin: 200, s.master: 200} {
			t.Logf("%q: %s", tc.groups, token)
			s.as(t, token, path).answers(configMaps, code)
		}
	}
}

func groupsSpareAccounts(t *testing.T, s *suite) {
	path := s.universal(t, aliceName)
	inside := s.as(t, s.admin, path)
	inside.admit("system:serviceaccount:default:default")
	token := in[struct{ Status struct{ Token string } }](inside, inside.post("/api/v1/namespaces/default/serviceaccounts/default/token",
		`{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{}}`)).Status.Token
	inside.annotate(clusterAPI, requiredGroupsKey, `"team-2"`).must(t)
	s.as(t, alice, path).answers(configMaps, 403)
	s.as(t, token, path).answers(configMaps, 200)
}

// groupsChosen shows that only the privileged choose the groups of a new workspace.
func groupsChosen(t *testing.T, s *suite) {
	path := s.universal(t, aliceName)
	inside := s.as(t, s.admin, path)
	inside.annotate(clusterAPI, requiredGroupsKey, `"team-1"`).must(t)
	s.as(t, bob, path).answers(configMaps, 403)
	body := func(name string) string {
		return fmt.Sprintf(`{"apiVersion":"tenancy.kcp.io/v1alpha1","kind":"Workspace","metadata":{"name":%q,"annotations":{%q:"team-2"}}}`, name, requiredGroupsKey)
	}
	for name, tc := range map[string]struct{ token, want string }{
		"by-alice": {alice, "team-1"}, "by-admin": {s.admin, "team-1"}, "by-master": {s.master, "team-2"},
	} {
		a := s.as(t, tc.token, path).post(tenancyAPI+"/workspaces", body(name))
		if a.code != http.StatusCreated {
			t.Errorf("%s: got %d %s", name, a.code, a.body)
			continue
		}
		if ws := inside.phase(name, corev1alpha1.PhaseReady); ws.Annotations[requiredGroupsKey] != tc.want {
			t.Errorf("%s: got %v, want %s", name, ws.Annotations, tc.want)
		}
	}
}
