package homes

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/forkless/kcp/internal/servertest"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

const (
	homePath   = "/apis/tenancy.kcp.io/v1alpha1/workspaces/~"
	workspaces = "/apis/tenancy.kcp.io/v1alpha1/workspaces"
	lcPath     = "/apis/core.kcp.io/v1alpha1/logicalclusters/cluster"
	configMaps = "/api/v1/namespaces/default/configmaps"
)

// caller asks a server in somebody's name.
type caller struct {
	testing.TB
	server *servertest.Server
	client *http.Client
	token  string
	header http.Header
}

// as returns somebody who asks, by his token. Nobody has none.
func as(t testing.TB, server *servertest.Server, token string) caller {
	t.Helper()
	client, err := rest.HTTPClientFor(server.As(t, token, "root"))
	if err != nil {
		t.Fatal(err)
	}
	return caller{TB: t, server: server, client: client, token: token, header: http.Header{}}
}

func user(n int) string { return fmt.Sprintf("user-%d-token", n) }

// with returns c with a header.
func (c caller) with(key, value string) caller {
	c.header = c.header.Clone()
	c.header.Add(key, value)
	return c
}

// answer is what a server has said.
type answer struct {
	code   int
	header http.Header
	body   string
}

func (a answer) String() string { return fmt.Sprintf("%d %s", a.code, a.body) }

// message returns that of a Status, or the body.
func (a answer) message() string {
	status := metav1.Status{}
	if json.Unmarshal([]byte(a.body), &status) == nil && status.Kind == "Status" {
		return status.Message
	}
	return strings.TrimSpace(a.body)
}

// do sends one request and does not repeat it, whatever the answer.
func (c caller) do(method, workspace, path, body string) answer {
	c.Helper()
	request, err := http.NewRequestWithContext(c.Context(), method, c.server.URL()+"/clusters/"+workspace+path, strings.NewReader(body))
	if err != nil {
		c.Fatal(err)
	}
	for key, values := range c.header {
		request.Header[key] = values
	}
	if body != "" && request.Header.Get("Content-Type") == "" {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := c.client.Do(request)
	if err != nil {
		c.Fatalf("%s %s in %s: %v", method, path, workspace, err)
	}
	defer func() { _ = response.Body.Close() }()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		c.Fatal(err)
	}
	return answer{code: response.StatusCode, header: response.Header, body: string(data)}
}

func (c caller) get(workspace, path string) answer {
	c.Helper()
	return c.do(http.MethodGet, workspace, path, "")
}

// home returns the home of the caller, asking as often as it is told to.
func (c caller) home() *tenancyv1alpha1.Workspace {
	c.Helper()
	ws := &tenancyv1alpha1.Workspace{}
	servertest.Eventually(c, "there is a home", func() (bool, any) {
		got := c.get("root", homePath)
		switch got.code {
		case http.StatusOK:
			if err := json.Unmarshal([]byte(got.body), ws); err != nil {
				c.Fatalf("%v: %s", err, got.body)
			}
			return true, got
		case http.StatusTooManyRequests:
			return false, got
		default:
			c.Fatalf("asking for a home: %s", got)
			return false, nil
		}
	})
	return ws
}

// cluster returns the LogicalCluster of a workspace.
func (c caller) cluster(workspace string) *corev1alpha1.LogicalCluster {
	c.Helper()
	lc := &corev1alpha1.LogicalCluster{}
	got := c.get(workspace, lcPath)
	if err := json.Unmarshal([]byte(got.body), lc); err != nil || got.code != http.StatusOK {
		c.Fatalf("reading the logical cluster of %s: %s", workspace, got)
	}
	return lc
}

// mayUse checks that the caller has a workspace for himself: he writes and reads in it, and
// uses the APIs that it comes with.
func (c caller) mayUse(workspace string) {
	c.Helper()
	name := fmt.Sprintf("mine-%d", time.Now().UnixNano())
	body := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q}}`, name)
	if got := c.do(http.MethodPost, workspace, configMaps, body); got.code != http.StatusCreated {
		c.Errorf("writing in %s: %s", workspace, got)
	}
	for _, path := range []string{configMaps + "/" + name, workspaces, "/apis/topology.kcp.io/v1alpha1/partitions", "/apis/rbac.authorization.k8s.io/v1/clusterroles"} {
		if got := c.get(workspace, path); got.code != http.StatusOK {
			c.Errorf("reading %s in %s: %s", path, workspace, got)
		}
	}
}

// forbidden checks that the caller has no access to a workspace.
func (c caller) forbidden(workspace string) {
	c.Helper()
	for _, path := range []string{configMaps, workspaces, lcPath, "/api"} {
		if got := c.get(workspace, path); got.code != http.StatusForbidden {
			c.Errorf("%s in %s is nobody else's to read: %s", path, workspace, got)
		}
	}
}

// child makes a workspace and waits until it is ready.
func (c caller) child(parent, name string) *tenancyv1alpha1.Workspace {
	c.Helper()
	ws := &tenancyv1alpha1.Workspace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	config := c.server.As(c, c.token, parent)
	config.Impersonate = rest.ImpersonationConfig{UserName: c.header.Get("Impersonate-User"), Groups: c.header.Values("Impersonate-Group")}
	ready, err := servertest.CreateWorkspace(c.Context(), config, ws)
	if err != nil {
		c.Fatal(err)
	}
	return ready
}
