package places

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/forkless/kcp/internal/servertest"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

const (
	inactiveKey       = "core.kcp.io/inactive"
	legacyInactiveKey = "internal.kcp.io/inactive"
	markedInactive    = "logical cluster is marked inactive"
	configMaps        = "/api/v1/namespaces/default/configmaps"
)

// TestInactive is rows 57 and 58: a workspace that is taken offline answers nobody, but for
// what brings it back.
func TestInactive(t *testing.T) {
	s := newSuite(t, servertest.Start(t, servertest.WithUsers(t)))
	for _, test := range []struct {
		name, reason string
		test         func(*testing.T, *suite)
	}{
		{"Offline", "row 57: content is refused to everybody, administrators included, and comes back", func(t *testing.T, s *suite) { offline(t, s, inactiveKey) }},
		{"LegacyKey", "the older annotation means the same", func(t *testing.T, s *suite) { offline(t, s, legacyInactiveKey) }},
		{"OtherValues", "only the value true means anything", otherValues},
		{"Watches", "row 57: watches in the cluster and over all clusters end, others go on", watchesEnd},
		{"WhoMay", "row 58: what is not ready cannot be taken offline but by the system", whoMay},
		{"Virtual", "virtual workspaces do not lead around it", virtualInactive},
		{"Children", "what is below it is reached by its own name and path", childOfInactive},
		{"Deletion", "it can be deleted all the same", inactiveDeleted},
	} {
		t.Run(test.name, func(t *testing.T) { t.Log(test.reason); test.test(t, s) })
	}
}

// answers waits until requests for content answer with code.
func (c caller) answers(path string, code int) {
	c.t.Helper()
	servertest.Eventually(c.t, fmt.Sprintf("%s answers with %d", path, code), func() (bool, any) {
		a := c.get(path)
		return a.code == code, a
	})
}

func offline(t *testing.T, s *suite, key string) {
	path := s.universal(t, aliceName)
	inside := s.as(t, alice, path)
	cluster := inside.cluster().Annotations[logicalcluster.AnnotationKey]
	inside.annotate(clusterAPI, key, `"true"`).must(t)
	servertest.Eventually(t, "the phase says that it is offline", func() (bool, any) {
		phase := inside.cluster().Status.Phase
		return phase == corev1alpha1.PhaseInactive, phase
	})
	for _, place := range []string{path, cluster} {
		for _, token := range []string{alice, bob, "", s.admin, s.master, "no-token-at-all"} {
			for _, content := range []string{configMaps, "/api", "/apis", "/", "/version", "/apis/core.kcp.io/v1alpha1", "/openapi/../api/v1/namespaces", "//api"} {
				if a := s.as(t, token, place).get(content); a.code == http.StatusOK {
					t.Errorf("%q got %s of an inactive workspace: %s", token, content, a.body)
				}
			}
			s.as(t, token, place).get(configMaps).is(t, 403, `logicalclusters.core.kcp.io \"`+cluster+`\"`, markedInactive)
		}
		s.as(t, alice, place).get("/openapi/v3").is(t, 200)
		s.as(t, alice, place).get(clusterAPI).is(t, 200)
		s.as(t, bob, place).get(clusterAPI).is(t, 403, "access denied")
	}
	if ws := s.as(t, s.admin, "root").workspace(strings.TrimPrefix(path, "root:")); ws.Status.Phase != corev1alpha1.PhaseReady {
		t.Errorf("the workspace itself keeps its phase, but is %s", ws.Status.Phase)
	}
	// What is inside can still be described otherwise.
	inside.annotate(clusterAPI, "example.com/note", `"still editable"`).must(t)
	inside.annotate(clusterAPI, key, "null").must(t)
	inside.answers(configMaps, 200)
	servertest.Eventually(t, "the phase is Ready again", func() (bool, any) {
		phase := inside.cluster().Status.Phase
		return phase == corev1alpha1.PhaseReady, phase
	})
}

func otherValues(t *testing.T, s *suite) {
	inside := s.as(t, alice, s.universal(t, aliceName))
	for _, value := range []string{`""`, `"false"`, `"True"`, `"yes"`} {
		inside.annotate(clusterAPI, inactiveKey, value).must(t)
		inside.get(configMaps).is(t, 200)
	}
}

// watch is an open watch.
type watch struct{ response *http.Response }

func (c caller) watch(path string) *watch {
	c.t.Helper()
	response := c.send(http.MethodGet, path, "", "")
	c.t.Cleanup(func() { _ = response.Body.Close() })
	if response.StatusCode != http.StatusOK {
		c.t.Fatalf("watching %s: %s", path, response.Status)
	}
	return &watch{response}
}

// ends waits until the server has ended it; the test times out if it does not.
func (w *watch) ends() { _, _ = io.Copy(io.Discard, w.response.Body) }

func watchesEnd(t *testing.T, s *suite) {
	path, other := s.universal(t, aliceName), s.universal(t, aliceName)
	inside, outside := s.as(t, alice, path), s.as(t, alice, other)
	here := inside.watch(configMaps + "?watch=true")
	everywhere := s.as(t, s.master, "*").watch("/api/v1/configmaps?watch=true")
	elsewhere := outside.watch(configMaps + "?watch=true&fieldSelector=metadata.name%3Dlater")
	inside.annotate(clusterAPI, inactiveKey, `"true"`).must(t)
	here.ends()
	everywhere.ends()
	outside.post(configMaps, `{"metadata":{"name":"later"}}`).must(t)
	if line, err := bufio.NewReader(elsewhere.response.Body).ReadString('\n'); err != nil || !strings.Contains(line, "later") {
		t.Errorf("a watch in another workspace has ended: %q, %v", line, err)
	}

	// Who watches the LogicalCluster waits for it to come back, and others watch on: changes
	// of what is offline already end nothing.
	servertest.Eventually(t, "the phase is written", func() (bool, any) {
		phase := inside.cluster().Status.Phase
		return phase == corev1alpha1.PhaseInactive, phase
	})
	version := inside.cluster().ResourceVersion
	again := s.as(t, s.master, "*").watch("/api/v1/configmaps?watch=true&fieldSelector=metadata.name%3Deven-later")
	cluster := inside.watch(coreAPI + "/logicalclusters?watch=true&resourceVersion=" + version)
	inside.annotate(clusterAPI, "example.com/note", `"changed"`).must(t)
	inside.annotate(clusterAPI, inactiveKey, "null").must(t)
	events := bufio.NewReader(cluster.response.Body)
	for ready := false; !ready; {
		line, err := events.ReadString('\n')
		if err != nil {
			t.Fatalf("the watch of the LogicalCluster has ended: %v", err)
		}
		ready = strings.Contains(line, `"phase":"Ready"`) && !strings.Contains(line, inactiveKey)
	}
	outside.post(configMaps, `{"metadata":{"name":"even-later"}}`).must(t)
	if line, err := bufio.NewReader(again.response.Body).ReadString('\n'); err != nil || !strings.Contains(line, "even-later") {
		t.Errorf("a watch over all workspaces has ended although nothing went offline: %q, %v", line, err)
	}
}

func whoMay(t *testing.T, s *suite) {
	path := s.universal(t, aliceName)
	inside := s.as(t, alice, path)
	inside.post(tenancyAPI+"/workspacetypes", `{"apiVersion":"tenancy.kcp.io/v1alpha1","kind":"WorkspaceType","metadata":{"name":"waiting"},
		"spec":{"initializer":true,"extend":{"with":[{"name":"universal","path":"root"}]}}}`).must(t)
	servertest.Eventually(t, "the type is known", func() (bool, any) {
		a := inside.create("child", `{"type":{"name":"waiting"}}`)
		return a.code == http.StatusCreated, a
	})
	inside.phase("child", corev1alpha1.PhaseInitializing)
	for _, key := range []string{inactiveKey, legacyInactiveKey} {
		for _, token := range []string{alice, s.admin} {
			s.as(t, token, path+":child").annotate(clusterAPI, key, `"true"`).is(t, 403, `status.phase is \"Ready\"`)
		}
		s.as(t, s.master, path+":child").annotate(clusterAPI, key, `"true"`).is(t, 200)
		s.as(t, alice, path+":child").annotate(clusterAPI, key, "null").is(t, 200)
	}
	s.as(t, bob, path).annotate(clusterAPI, inactiveKey, `"true"`).is(t, 403, "access denied")
}

func virtualInactive(t *testing.T, s *suite) {
	provider, consumer := s.universal(t, aliceName), s.universal(t, aliceName)
	servertest.Export(t, s.as(t, alice, provider).config, "cowboys", nil, servertest.CowboySchema())
	servertest.Bind(t, s.as(t, alice, consumer).config, provider, "cowboys")
	inside := s.as(t, alice, consumer)
	cluster := inside.cluster().Annotations[logicalcluster.AnnotationKey]
	base := "/services/apiexport/" + provider + "/cowboys/clusters/"
	cowboys := "/apis/wildwest.dev/v1alpha1/cowboys"
	outside := s.as(t, alice, "")
	outside.answers(base+cluster+cowboys, 200)
	stream := outside.watch(base + cluster + cowboys + "?watch=true")
	all := outside.watch(base + "*" + cowboys + "?watch=true")
	inside.annotate(clusterAPI, inactiveKey, `"true"`).must(t)
	stream.ends()
	all.ends()
	for _, token := range []string{alice, s.master} {
		s.as(t, token, "").get(base+cluster+cowboys).is(t, 403, markedInactive)
	}
	outside.get(base+"*"+cowboys).is(t, 200)
	inside.annotate(clusterAPI, inactiveKey, "null").must(t)
	outside.answers(base+cluster+cowboys, 200)
}

func childOfInactive(t *testing.T, s *suite) {
	path := s.universal(t, aliceName)
	inside := s.as(t, alice, path)
	inside.create("child", `{"type":{"name":"universal","path":"root"}}`).must(t)
	inside.phase("child", corev1alpha1.PhaseReady)
	inside.annotate(clusterAPI, inactiveKey, `"true"`).must(t)
	inside.answers(configMaps, 403)
	s.as(t, alice, path+":child").get(configMaps).is(t, 200)
}

func inactiveDeleted(t *testing.T, s *suite) {
	path := s.universal(t, aliceName)
	s.as(t, alice, path).annotate(clusterAPI, inactiveKey, `"true"`).must(t)
	root, name := s.as(t, s.admin, "root"), strings.TrimPrefix(path, "root:")
	root.delete(tenancyAPI + "/workspaces/" + name).must(t)
	root.answers(tenancyAPI+"/workspaces/"+name, 404)
}

// TestInactiveRestart shows that what was offline is so from the first request on.
func TestInactiveRestart(t *testing.T) {
	directory := t.TempDir()
	server := servertest.StartIn(t, directory)
	s := newSuite(t, server)
	path := s.universal(t)
	s.as(t, s.admin, path).annotate(clusterAPI, inactiveKey, `"true"`).must(t)
	server.Stop()
	s = newSuite(t, servertest.StartIn(t, directory))
	s.as(t, s.admin, path).get(configMaps).is(t, 403, markedInactive)
	s.as(t, s.admin, path).annotate(clusterAPI, inactiveKey, "null").must(t)
	s.as(t, s.admin, path).answers(configMaps, 200)
}
