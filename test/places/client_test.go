package places

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/forkless/kcp/internal/servertest"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

// Users of servertest, and administrators.
const (
	alice, aliceName = "user-1-token", "user-1"
	bob, bobName     = "user-2-token", "user-2"

	tenancyAPI = "/apis/tenancy.kcp.io/v1alpha1"
	coreAPI    = "/apis/core.kcp.io/v1alpha1"
	clusterAPI = coreAPI + "/logicalclusters/cluster"
	shardAPI   = coreAPI + "/shards"
)

// suite is a server and the tokens of its administrators.
type suite struct {
	server *servertest.Server
	// admin is cluster admin everywhere, and nothing is denied to master.
	admin, master string
	// url is where the server is, which is not what it tells others if it has another address
	// for them.
	url string
}

func newSuite(t *testing.T, server *servertest.Server) *suite {
	t.Helper()
	base := server.Config(t, "base")
	url, _, _ := strings.Cut(base.Host, "/clusters/")
	return &suite{server: server, admin: base.BearerToken, master: server.Config(t, "shard-base").BearerToken, url: url}
}

// caller is somebody in a workspace.
type caller struct {
	t      *testing.T
	config *rest.Config
}

// as returns somebody by token in a workspace by path or name; without one he is in none.
func (s *suite) as(t *testing.T, token, workspace string) caller {
	t.Helper()
	config := s.server.As(t, token, workspace)
	config.Host = s.url
	if workspace != "" {
		config.Host += "/clusters/" + workspace
	}
	return caller{t, config}
}

// answer is what came back.
type answer struct {
	code   int
	body   string
	header http.Header
}

// do sends a request with a JSON body and reads the answer.
func (c caller) do(method, path, contentType, body string, header ...string) answer {
	c.t.Helper()
	response := c.send(method, path, contentType, body, header...)
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		c.t.Fatalf("%s %s: %v", method, path, err)
	}
	return answer{response.StatusCode, string(content), response.Header}
}

// send sends a request; the caller closes the body of what comes back.
func (c caller) send(method, path, contentType, body string, header ...string) *http.Response {
	c.t.Helper()
	client, err := rest.HTTPClientFor(c.config)
	if err != nil {
		c.t.Fatal(err)
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	request, err := http.NewRequestWithContext(c.t.Context(), method, c.config.Host+path, bytes.NewBufferString(body))
	if err != nil {
		c.t.Fatal(err)
	}
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	for i := 0; i < len(header); i += 2 {
		request.Header.Add(header[i], header[i+1])
	}
	response, err := client.Do(request)
	if err != nil {
		c.t.Fatalf("%s %s: %v", method, path, err)
	}
	return response
}

func (c caller) get(path string) answer { c.t.Helper(); return c.do(http.MethodGet, path, "", "") }

func (c caller) post(path, body string) answer {
	c.t.Helper()
	return c.do(http.MethodPost, path, "application/json", body)
}

func (c caller) patch(path, body string) answer {
	c.t.Helper()
	return c.do(http.MethodPatch, path, "application/merge-patch+json", body)
}

func (c caller) delete(path string) answer {
	c.t.Helper()
	return c.do(http.MethodDelete, path, "", "")
}

// is fails the test unless the answer has that code and says all of words.
func (a answer) is(t *testing.T, code int, words ...string) {
	t.Helper()
	if a.code != code {
		t.Errorf("got %d %s, want %d", a.code, a.body, code)
		return
	}
	for _, word := range words {
		if !strings.Contains(a.body, word) {
			t.Errorf("got %q, which does not say %q", a.body, word)
		}
	}
}

// must ends the test unless the answer is a good one.
func (a answer) must(t *testing.T) answer {
	t.Helper()
	if a.code >= http.StatusMultipleChoices {
		t.Fatalf("got %d %s", a.code, a.body)
	}
	return a
}

// read returns the object at a path.
func read[T any](c caller, path string) *T {
	c.t.Helper()
	object := new(T)
	if err := json.Unmarshal([]byte(c.get(path).must(c.t).body), object); err != nil {
		c.t.Fatalf("reading %s: %v", path, err)
	}
	return object
}

func (c caller) workspace(name string) *tenancyv1alpha1.Workspace {
	c.t.Helper()
	return read[tenancyv1alpha1.Workspace](c, tenancyAPI+"/workspaces/"+name)
}

func (c caller) cluster() *corev1alpha1.LogicalCluster {
	c.t.Helper()
	return read[corev1alpha1.LogicalCluster](c, clusterAPI)
}

// create creates a Workspace with a spec in JSON.
func (c caller) create(name, spec string) answer {
	c.t.Helper()
	return c.post(tenancyAPI+"/workspaces", fmt.Sprintf(
		`{"apiVersion":"tenancy.kcp.io/v1alpha1","kind":"Workspace","metadata":{"name":%q},"spec":%s}`, name, spec))
}

// annotate sets an annotation of what is at a path; value is JSON, null to take it away.
func (c caller) annotate(path, key, value string) answer {
	c.t.Helper()
	return c.patch(path, fmt.Sprintf(`{"metadata":{"annotations":{%q:%s}}}`, key, value))
}

// phase waits until a Workspace is in a phase, and returns it.
func (c caller) phase(name string, want corev1alpha1.Phase) *tenancyv1alpha1.Workspace {
	c.t.Helper()
	var ws *tenancyv1alpha1.Workspace
	servertest.Eventually(c.t, fmt.Sprintf("workspace %s is %s", name, want), func() (bool, any) {
		ws = c.workspace(name)
		return ws.Status.Phase == want, ws.Status
	})
	return ws
}

// admit makes a user cluster admin in the caller's workspace.
func (c caller) admit(user string) {
	c.t.Helper()
	c.post("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", fmt.Sprintf(`{"metadata":{"generateName":"test-"},
		"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"cluster-admin"},
		"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":%q}]}`, user)).must(c.t)
}

// universal makes a universal workspace below root, with admins, and returns its path.
func (s *suite) universal(t *testing.T, admins ...string) string {
	t.Helper()
	root := s.as(t, s.admin, "root")
	ws := in[tenancyv1alpha1.Workspace](root, root.post(tenancyAPI+"/workspaces",
		`{"apiVersion":"tenancy.kcp.io/v1alpha1","kind":"Workspace","metadata":{"generateName":"ws-"},"spec":{"type":{"name":"universal","path":"root"}}}`))
	root.phase(ws.Name, corev1alpha1.PhaseReady)
	path := "root:" + ws.Name
	for _, admin := range admins {
		s.as(t, s.admin, path).admit(admin)
	}
	return path
}

// in returns the object in an answer.
func in[T any](c caller, a answer) *T {
	c.t.Helper()
	object := new(T)
	if err := json.Unmarshal([]byte(a.must(c.t).body), object); err != nil {
		c.t.Fatal(err)
	}
	return object
}
