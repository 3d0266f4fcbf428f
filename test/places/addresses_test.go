package places

import (
	"net/http"
	"strings"
	"testing"

	"github.com/forkless/kcp/internal/servertest"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// TestAddresses is row 68, and with it what every sort of address answers. Front proxies and
// other shards are other programs.
func TestAddresses(t *testing.T) {
	s := newSuite(t, servertest.Start(t, servertest.WithUsers(t), "--feature-gates=WorkspaceMounts=false"))
	path := s.universal(t, aliceName)
	inside := s.as(t, alice, path)
	inside.create("child", `{"type":{"name":"universal","path":"root"}}`).must(t)
	inside.phase("child", corev1alpha1.PhaseReady)
	inside.create("nowhere", wanting("nowhere")).must(t)
	inside.phase("nowhere", corev1alpha1.PhaseUnavailable)
	inside.create("guarded", `{"type":{"name":"universal","path":"root"}}`).must(t)
	inside.phase("guarded", corev1alpha1.PhaseReady)
	s.as(t, s.admin, path+":guarded").annotate(clusterAPI, requiredGroupsKey, `"team-4"`).must(t)
	s.as(t, alice, path+":guarded").answers(configMaps, 403)
	cluster := inside.cluster().Annotations[logicalcluster.AnnotationKey]
	// With the gate off it is no door to anything.
	inside.create("mounted", `{"mount":{"ref":{"apiVersion":"v1","kind":"Cluster","name":"c"}}}`).must(t)

	const notFound = "workspaces.tenancy.kcp.io"
	for name, tc := range map[string]struct {
		reason string
		place  string
		// Who asks, without a place, and what is answered to each.
		alice, bob, nobody, admin, master int
		words                             string
	}{
		"Path":             {"a path that is known is served", path, 200, 403, 403, 200, 200, ""},
		"Name":             {"so is a name", cluster, 200, 403, 403, 200, 200, ""},
		"Child":            {"and what is below it", path + ":child", 200, 403, 403, 200, 200, ""},
		"FromAName":        {"also from a name", cluster + ":child", 200, 403, 403, 200, 200, ""},
		"BadSyntax":        {"what is no path is told apart from what leads nowhere", "Bad_Name", 400, 400, 400, 400, 400, "invalid cluster"},
		"BadSegment":       {"in any segment", path + "::child", 400, 400, 400, 400, 400, "invalid cluster"},
		"UnknownPath":      {"an unknown path is not found, before anybody has looked at who asks", path + ":unknown", 404, 404, 404, 404, 404, path + `:unknown\" not found`},
		"UnknownBelow":     {"so is what would be below it", path + ":unknown:child", 404, 404, 404, 404, 404, notFound},
		"UnknownFirst":     {"or below an unknown cluster", "abcdefgh1234:child", 404, 404, 404, 404, 404, notFound},
		"UnknownName":      {"an unknown name looks as if it were forbidden", "abcdefgh1234", 403, 403, 403, 403, 200, ""},
		"Unavailable":      {"row 52: what has no place is not available", path + ":nowhere", 503, 503, 503, 503, 503, "Not available."},
		"BelowUnavailable": {"nor is what would be below it", path + ":nowhere:child", 503, 503, 503, 503, 503, "Not available."},
		"Mounted":          {"without the feature gate nothing is mounted", path + ":mounted", 404, 404, 404, 404, 404, notFound},
		"RequiredGroups":   {"who is not in the groups has no access, but for administrators", path + ":guarded", 403, 403, 403, 200, 200, ""},
		"TwoPrefixes":      {"one prefix is taken off", path + "/clusters/" + path, 404, 403, 403, 404, 404, ""},
		"System":           {"row 61: clusters of the system are for the privileged", "system:admin", 403, 403, 403, 403, 200, ""},
		"Wildcard":         {"so are all clusters at once", "*", 403, 403, 403, 403, 200, ""},
	} {
		t.Run(name, func(t *testing.T) {
			for token, code := range map[string]int{alice: tc.alice, bob: tc.bob, "": tc.nobody, s.admin: tc.admin, s.master: tc.master} {
				a := s.as(t, token, tc.place).get("/api/v1/configmaps")
				if a.code != code {
					t.Errorf("%s: %q got %d %s, want %d", tc.reason, token, a.code, a.body, code)
				}
				if !strings.Contains(a.body, tc.words) {
					t.Errorf("%s: %q got %s, which does not say %q", tc.reason, token, a.body, tc.words)
				}
				if a.code == http.StatusForbidden && !strings.Contains(a.body, "access denied") {
					t.Errorf("%s: why is nobody's business, but got %s", tc.reason, a.body)
				}
			}
		})
	}
	for _, place := range []string{"root", path, path + ":unknown", "abcdefgh1234"} {
		for _, token := range []string{alice, s.admin, s.master} {
			s.as(t, token, place).get("/metrics").is(t, http.StatusNotImplemented, "shard-level endpoint not available at workspace scope")
		}
	}
}
