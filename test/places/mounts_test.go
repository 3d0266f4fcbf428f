package places

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/util/cert"

	"github.com/forkless/kcp/internal/servertest"
	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

// The definition of what is mounted in these tests.
const (
	clusters       = "/apis/mounts.example.com/v1/clusters"
	clustersSchema = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"clusters.mounts.example.com"},
		"spec":{"group":"mounts.example.com","scope":"Cluster","names":{"plural":"clusters","singular":"cluster","kind":"Cluster","listKind":"ClusterList"},
		"versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},
		"schema":{"openAPIV3Schema":{"type":"object","properties":{"status":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}}]}}`
	mountsIt = `{"mount":{"ref":{"apiVersion":"mounts.example.com/v1","kind":"Cluster","name":%q}}}`
)

// mountable makes a workspace in which clusters can be mounted, for alice, and returns its path.
func (s *suite) mountable(t *testing.T) string {
	t.Helper()
	path := s.universal(t, aliceName)
	inside := s.as(t, alice, path)
	inside.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", clustersSchema).must(t)
	servertest.Eventually(t, "clusters are served", func() (bool, any) {
		a := inside.get(clusters)
		return a.code == http.StatusOK, a
	})
	return path
}

// mounted makes an object to mount, and the workspace that mounts it.
func (c caller) mounted(name, address, phase string) {
	c.t.Helper()
	c.post(clusters, fmt.Sprintf(`{"apiVersion":"mounts.example.com/v1","kind":"Cluster","metadata":{"name":%q}}`, name)).must(c.t)
	c.says(name, address, phase)
	c.create(name, fmt.Sprintf(mountsIt, name)).must(c.t)
}

// says changes the status of an object to mount.
func (c caller) says(name, address, phase string) {
	c.t.Helper()
	c.patch(clusters+"/"+name+"/status", fmt.Sprintf(`{"status":{"URL":%q,"phase":%q}}`, address, phase)).must(c.t)
}

func mountReady(ws *tenancyv1alpha1.Workspace) conditions.Condition {
	condition, _ := conditions.Get(ws, tenancyv1alpha1.WorkspaceMountReady)
	return condition
}

// TestMounts is row 62: what is mounted is reached through the path of the workspace, and is
// unavailable as soon as its object says so.
func TestMounts(t *testing.T) {
	elsewhere := newBackend(t)
	s := newSuite(t, servertest.Start(t, servertest.WithUsers(t), "--feature-gates=WorkspaceMounts=true",
		"--mount-proxy-allowed-hosts=127.0.0.1", "--mount-proxy-ca-file="+elsewhere.CA))
	for name, test := range map[string]func(*testing.T, *suite, *backend){
		"Life":          mountLife,
		"Identity":      mountIdentity,
		"Streams":       mountStreams,
		"Upgrades":      mountUpgrades,
		"OwnServer":     mountOwnServer,
		"Circle":        mountCircle,
		"Refused":       mountRefused,
		"Admission":     mountAdmission,
		"Unreachable":   mountUnreachable,
		"KindComesLate": mountKindComesLate,
	} {
		t.Run(name, func(t *testing.T) { test(t, s, elsewhere) })
	}
}

func mountLife(t *testing.T, s *suite, elsewhere *backend) {
	path := s.mountable(t)
	inside := s.as(t, alice, path)
	through := s.as(t, alice, path+":m")

	inside.create("m", fmt.Sprintf(mountsIt, "c")).must(t)
	ws := inside.phase("m", corev1alpha1.PhaseUnavailable)
	if c := mountReady(ws); c.Reason != "MountObjectNotFound" || c.Severity != conditions.SeverityError {
		t.Errorf("the object is not there, but the condition says %+v", c)
	}
	through.get("/api").is(t, 503, "Not available.")
	s.as(t, alice, path+":m:child").get("/api").is(t, 503, "Not available.")

	inside.post(clusters, `{"apiVersion":"mounts.example.com/v1","kind":"Cluster","metadata":{"name":"c"}}`).must(t)
	servertest.Eventually(t, "the object is there, and not ready", func() (bool, any) {
		c := mountReady(inside.workspace("m"))
		return c.Reason == "MountObjectNotReady", c
	})
	inside.says("c", elsewhere.URL+"/base", "Connecting")
	servertest.Eventually(t, "its phase is told", func() (bool, any) {
		c := mountReady(inside.workspace("m"))
		return strings.Contains(c.Message, "Connecting"), c
	})
	through.get("/api").is(t, 503, "Not available.")

	inside.says("c", elsewhere.URL+"/base", "Ready")
	ws = inside.phase("m", corev1alpha1.PhaseReady)
	if ws.Spec.URL != elsewhere.URL+"/base" || ws.Spec.Cluster != "" || ws.Spec.Type != nil || len(ws.Finalizers)+len(ws.Labels) > 0 || mountReady(ws).Status != "True" {
		t.Errorf("got %+v", ws)
	}
	what := reached(t, through.do(http.MethodPost, "/api/v1/namespaces/a%2Fb/pods?x=y", "application/json", "{}"))
	if what.Method != http.MethodPost || what.URI != "/base/api/v1/namespaces/a%2Fb/pods?x=y" || what.Body != "{}" {
		t.Errorf("got %+v", what)
	}
	through.get("/missing").is(t, 404, "no such thing")
	s.as(t, alice, path+":m:child").get("/api").is(t, 404, "workspaces.tenancy.kcp.io")
	s.as(t, alice, path+":m").get("/metrics").is(t, 501)
	through.get("/api/../../other").is(t, 400, "leads out")
	through.get("/api/%2e%2e/%2e%2e/other").is(t, 400, "leads out")
	if a := s.as(t, alice, "").get("/services/apiexport/" + path + ":m/x/clusters/*/api"); a.code != 403 {
		t.Errorf("what is mounted is no home of virtual workspaces: got %d %s", a.code, a.body)
	}

	inside.says("c", elsewhere.URL+"/base", "Unknown")
	inside.phase("m", corev1alpha1.PhaseUnavailable)
	through.get("/api").is(t, 503, "Not available.")
	inside.says("c", elsewhere.URL+"/moved-to", "Ready")
	ws = inside.phase("m", corev1alpha1.PhaseReady)
	if what := reached(t, through.get("/api")); ws.Spec.URL != elsewhere.URL+"/moved-to" || what.URI != "/moved-to/api" {
		t.Errorf("the workspace leads to %s, but %s was asked for", ws.Spec.URL, what.URI)
	}
	inside.delete(clusters + "/c").must(t)
	inside.phase("m", corev1alpha1.PhaseUnavailable)
	// It has no finalizer, so that it goes at once.
	inside.delete(tenancyAPI + "/workspaces/m").must(t)
	inside.get(tenancyAPI+"/workspaces/m").is(t, 404)
	through.get("/api").is(t, 404)
}

// mountIdentity shows who callers are for what is mounted.
func mountIdentity(t *testing.T, s *suite, elsewhere *backend) {
	path := s.mountable(t)
	inside := s.as(t, alice, path)
	inside.mounted("m", elsewhere.URL, "Ready")
	inside.phase("m", corev1alpha1.PhaseReady)
	through := s.as(t, alice, path+":m")
	forged := []string{"X-Remote-User", "admin", "X-Remote-Group", "system:masters", "X-Remote-Extra-A", "b", "Cookie", "a=b", "X-Forwarded-For", "1.2.3.4"}
	what := reached(t, through.do(http.MethodGet, "/api", "", "", append(forged, "Impersonate-User", "carol")...))
	if what.Header.Get("Authorization") != "Bearer "+alice || what.Header.Get("Impersonate-User") != "carol" {
		t.Errorf("the token goes on, and whom the caller wants to be is for the other server to judge: got %v", what.Header)
	}
	for _, name := range []string{"X-Remote-User", "X-Remote-Group", "X-Remote-Extra-A", "Cookie"} {
		if what.Header.Get(name) != "" {
			t.Errorf("%s cannot be forged: got %v", name, what.Header)
		}
	}
	if strings.Contains(what.Header.Get("X-Forwarded-For"), "1.2.3.4") {
		t.Errorf("nor can the address: got %v", what.Header)
	}
	s.as(t, "no-token-at-all", path+":m").get("/api").is(t, 401)
	if what := reached(t, s.as(t, bob, path+":m").get("/api")); what.Header.Get("Authorization") != "Bearer "+bob {
		t.Errorf("the mounted server decides who may enter, but got %v", what.Header)
	}
	if what := reached(t, s.as(t, "", path+":m").get("/api")); what.Header.Get("Authorization") != "" {
		t.Errorf("who has no credentials has none there: got %v", what.Header)
	}
	if a := through.get("/moved"); a.code != http.StatusFound || !strings.Contains(a.header.Get("Location"), "127.0.0.1:1") {
		t.Errorf("where to go next is for the client to decide: got %+v", a)
	}
}

// mountStreams shows that watches pass, and end with what they are to.
func mountStreams(t *testing.T, s *suite, elsewhere *backend) {
	path := s.mountable(t)
	inside := s.as(t, alice, path)
	for name, end := range map[string]func(workspace string){
		"object":    func(name string) { inside.says(name, elsewhere.URL, "Unknown") },
		"moved":     func(name string) { inside.says(name, elsewhere.URL+"/elsewhere", "Ready") },
		"workspace": func(name string) { inside.delete(tenancyAPI + "/workspaces/" + name).must(t) },
	} {
		inside.mounted(name, elsewhere.URL, "Ready")
		inside.phase(name, corev1alpha1.PhaseReady)
		response := s.as(t, alice, path+":"+name).send(http.MethodGet, "/api/v1/pods?watch=true", "", "")
		lines := bufio.NewReader(response.Body)
		if line, err := lines.ReadString('\n'); err != nil || !strings.Contains(line, "ADDED") {
			t.Fatalf("got %q, %v", line, err)
		}
		end(name)
		// It ends, or the test times out here.
		_, _ = io.Copy(io.Discard, lines)
		_ = response.Body.Close()
	}
}

// mountUpgrades shows that connections may become something else, as those of exec do.
func mountUpgrades(t *testing.T, s *suite, elsewhere *backend) {
	path := s.mountable(t)
	inside := s.as(t, alice, path)
	inside.mounted("m", elsewhere.URL, "Ready")
	inside.phase("m", corev1alpha1.PhaseReady)
	address, err := url.Parse(s.server.URL())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), servertest.Patience)
	defer cancel()
	//nolint:gosec // because it is this test's own server
	connection, err := (&tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"http/1.1"}}}).DialContext(ctx, "tcp", address.Host)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = connection.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = connection.Close() })
	defer stop()
	_, err = fmt.Fprintf(connection, "POST /clusters/%s:m/api/v1/namespaces/a/pods/b/exec HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n",
		path, address.Host, alice)
	if err != nil {
		t.Fatal(err)
	}
	reader := bufio.NewReader(connection)
	response, err := http.ReadResponse(reader, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("got %s", response.Status)
	}
	if _, err := io.WriteString(connection, "hello\n"); err != nil {
		t.Fatal(err)
	}
	if line, err := reader.ReadString('\n'); err != nil || line != "HELLO\n" {
		t.Errorf("got %q, %v", line, err)
	}
}

// mountOwnServer shows that another workspace of the server is reached without leaving it,
// by callers who are who they always are.
func mountOwnServer(t *testing.T, s *suite, _ *backend) {
	path := s.mountable(t)
	inside := s.as(t, alice, path)
	target := s.universal(t, aliceName)
	inside.mounted("m", s.as(t, "", target).config.Host, "Ready")
	inside.phase("m", corev1alpha1.PhaseReady)
	through := s.as(t, alice, path+":m")
	through.post("/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"made-there"}}`).must(t)
	s.as(t, alice, target).get("/api/v1/namespaces/default/configmaps/made-there").is(t, 200)
	inside.get("/api/v1/namespaces/default/configmaps/made-there").is(t, 404)
	s.as(t, bob, path+":m").get("/api/v1/namespaces").is(t, 403, "access denied")
	s.as(t, "", path+":m").get("/api/v1/namespaces").is(t, 403, "access denied")
	s.as(t, "no-token-at-all", path+":m").get("/api").is(t, 401)

	watch := through.send(http.MethodGet, "/api/v1/namespaces/default/configmaps?watch=true", "", "")
	defer func() { _ = watch.Body.Close() }()
	var event struct{ Type string }
	if err := json.NewDecoder(watch.Body).Decode(&event); err != nil || event.Type != "ADDED" {
		t.Errorf("got %+v, %v", event, err)
	}
}

// mountCircle shows that a workspace that is mounted in itself keeps nobody busy.
func mountCircle(t *testing.T, s *suite, _ *backend) {
	path := s.mountable(t)
	inside := s.as(t, alice, path)
	inside.mounted("m", s.as(t, "", path+":m").config.Host, "Ready")
	inside.phase("m", corev1alpha1.PhaseReady)
	s.as(t, alice, path+":m").get("/api").is(t, http.StatusLoopDetected, "circle")
	// Nor does one that comes back from another server, which has counted.
	inside.mounted("n", s.as(t, "", path).config.Host, "Ready")
	inside.phase("n", corev1alpha1.PhaseReady)
	for depth, code := range map[string]int{"": 200, "3": 200, "-7": 200, "many": 200, "4": http.StatusLoopDetected} {
		if a := s.as(t, alice, path+":n").do(http.MethodGet, "/api", "", "", "X-Kcp-Mount-Depth", depth); a.code != code {
			t.Errorf("at depth %q: got %d %s, want %d", depth, a.code, a.body, code)
		}
	}
}

// mountRefused shows that tenants cannot choose where the server, or its users' tokens, go.
func mountRefused(t *testing.T, s *suite, elsewhere *backend) {
	path := s.mountable(t)
	inside := s.as(t, alice, path)
	port := elsewhere.Listener.Addr().String()[strings.LastIndex(elsewhere.Listener.Addr().String(), ":"):]
	for name, address := range map[string]string{
		"metadata":  "https://169.254.169.254/latest",
		"name":      "https://localhost" + port,
		"plain":     "http://127.0.0.1" + port,
		"everybody": s.server.URL() + "/metrics",
		"password":  "https://me:secret@127.0.0.1" + port,
		"file":      "file:///etc/passwd",
		"dots":      s.server.URL() + "/clusters/x/../root",
		"nothing":   "",
	} {
		inside.mounted(name, address, "Ready")
		ws := inside.phase(name, corev1alpha1.PhaseUnavailable)
		if c := mountReady(ws); ws.Spec.URL != "" || c.Reason != "MountObjectNotReady" || strings.Contains(c.Message, "secret") {
			t.Errorf("%s: got %+v", address, ws)
		}
		s.as(t, alice, path+":"+name).get("/api").is(t, 503, "Not available.")
	}
	// The address in the Workspace itself is written by the server, but not guarded.
	inside.mounted("m", elsewhere.URL, "Ready")
	inside.phase("m", corev1alpha1.PhaseReady)
	inside.patch(tenancyAPI+"/workspaces/m", `{"spec":{"URL":"https://localhost`+port+`"}}`).must(t)
	servertest.Eventually(t, "the address is put right", func() (bool, any) {
		a := s.as(t, alice, path+":m").get("/api")
		if a.code != http.StatusOK && a.code != http.StatusServiceUnavailable {
			t.Fatalf("got %+v", a)
		}
		url := inside.workspace("m").Spec.URL
		return a.code == http.StatusOK && url == elsewhere.URL, url
	})
}

// mountAdmission is rows 62 and 63: what may be said of a mounted workspace, and by whom.
func mountAdmission(t *testing.T, s *suite, elsewhere *backend) {
	path := s.mountable(t)
	inside := s.as(t, alice, path)
	for name, tc := range map[string]struct {
		reason, spec string
		code         int
	}{
		"type":    {"row 63: what is mounted has no type", `{"type":{"name":"universal","path":"root"},"mount":{"ref":{"apiVersion":"v1","kind":"Cluster","name":"a"}}}`, 403},
		"no-kind": {"the kind has to be said", `{"mount":{"ref":{"apiVersion":"v1","kind":"","name":"a"}}}`, 403},
		"no-name": {"so does the name", `{"mount":{"ref":{"apiVersion":"v1","kind":"Cluster","name":""}}}`, 403},
		"no-ref":  {"and the object at all", `{"mount":{}}`, 422},
		"url":     {"where it leads is not for the creator to say", `{"URL":"https://example.com","mount":{"ref":{"apiVersion":"v1","kind":"Cluster","name":"a"}}}`, 403},
		"cluster": {"nor which cluster it is", `{"cluster":"root","mount":{"ref":{"apiVersion":"v1","kind":"Cluster","name":"a"}}}`, 403},
	} {
		if a := inside.create(name, tc.spec); a.code != tc.code {
			t.Errorf("%s: got %d %s", tc.reason, a.code, a.body)
		}
	}
	inside.mounted("m", elsewhere.URL, "Ready")
	inside.phase("m", corev1alpha1.PhaseReady)
	inside.patch(tenancyAPI+"/workspaces/m", `{"spec":{"mount":{"ref":{"name":"other"}}}}`).is(t, 422, "mount is immutable")
	inside.patch(tenancyAPI+"/workspaces/m", `{"spec":{"type":{"name":"universal"}}}`).is(t, 403, "spec.type")
	s.as(t, s.master, path).create("typed", `{"type":{"name":"universal","path":"root"},"mount":{"ref":{"apiVersion":"mounts.example.com/v1","kind":"Cluster","name":"m"}}}`).is(t, 201)
	if _, ok := inside.workspace("m").Annotations[tenancyv1alpha1.OwnerAnnotationKey]; !ok {
		t.Error("nobody knows who has mounted it")
	}
	// A cluster that somebody writes into it leads nowhere.
	target := s.universal(t)
	inside.patch(tenancyAPI+"/workspaces/m", fmt.Sprintf(`{"spec":{"cluster":%q}}`, s.as(t, s.admin, target).cluster().Annotations["kcp.io/cluster"])).must(t)
	if what := reached(t, s.as(t, alice, path+":m").get("/api")); what.URI != "/api" {
		t.Errorf("got %+v", what)
	}
}

// mountUnreachable shows what callers read when nobody they can trust listens, or nobody at all.
func mountUnreachable(t *testing.T, s *suite, _ *backend) {
	path := s.mountable(t)
	inside := s.as(t, alice, path)
	stranger, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(stranger, key)
	if err != nil {
		t.Fatal(err)
	}
	gone := httptest.NewUnstartedServer(http.HandlerFunc(serve))
	gone.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	gone.StartTLS()
	defer gone.Close()
	inside.mounted("m", gone.URL, "Ready")
	inside.phase("m", corev1alpha1.PhaseReady)
	a := s.as(t, alice, path+":m").get("/api")
	a.is(t, 503, `"reason":"ServiceUnavailable"`, path+":m cannot be reached")
	if strings.Contains(a.body, "certificate") {
		t.Errorf("what is wrong with the network is nobody's business: %s", a.body)
	}
	gone.Close()
	s.as(t, alice, path+":m").get("/api").is(t, 503, "cannot be reached")
}

// mountKindComesLate shows that the kind may come after the workspace that mounts it.
func mountKindComesLate(t *testing.T, s *suite, elsewhere *backend) {
	path := s.universal(t, aliceName)
	inside := s.as(t, alice, path)
	inside.create("m", fmt.Sprintf(mountsIt, "c")).must(t)
	inside.phase("m", corev1alpha1.PhaseUnavailable)
	inside.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", clustersSchema).must(t)
	servertest.Eventually(t, "clusters are served", func() (bool, any) {
		a := inside.post(clusters, `{"apiVersion":"mounts.example.com/v1","kind":"Cluster","metadata":{"name":"c"}}`)
		return a.code == http.StatusCreated, a
	})
	inside.says("c", elsewhere.URL, "Ready")
	inside.phase("m", corev1alpha1.PhaseReady)
}

// TestMountsRestart shows that a server that starts does not take for missing what it has only
// not seen yet.
func TestMountsRestart(t *testing.T) {
	elsewhere, directory := newBackend(t), t.TempDir()
	flags := []string{
		servertest.WithUsers(t), "--feature-gates=WorkspaceMounts=true",
		"--mount-proxy-allowed-hosts=127.0.0.1", "--mount-proxy-ca-file=" + elsewhere.CA,
	}
	server := servertest.StartIn(t, directory, flags...)
	s := newSuite(t, server)
	path := s.mountable(t)
	inside := s.as(t, alice, path)
	inside.mounted("m", elsewhere.URL, "Ready")
	before := inside.phase("m", corev1alpha1.PhaseReady)
	server.Stop()

	s = newSuite(t, servertest.StartIn(t, directory, flags...))
	inside = s.as(t, alice, path)
	reached(t, s.as(t, alice, path+":m").get("/api"))
	// All controllers have looked at everything by now.
	if after := inside.workspace("m"); after.ResourceVersion != before.ResourceVersion {
		t.Errorf("it was written to: %+v", after)
	}
	inside.says("m", elsewhere.URL, "Connecting")
	inside.phase("m", corev1alpha1.PhaseUnavailable)
}

// TestMountsVouched shows how callers are introduced by a server that can vouch for them: no
// token leaves it, and nobody is more over there than his name.
func TestMountsVouched(t *testing.T) {
	elsewhere := newBackend(t)
	certificate, key, err := cert.GenerateSelfSignedCertKey("front-proxy", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	directory := t.TempDir()
	for name, content := range map[string][]byte{"proxy.crt": certificate, "proxy.key": key} {
		if err := os.WriteFile(filepath.Join(directory, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := newSuite(t, servertest.Start(t, servertest.WithUsers(t), "--feature-gates=WorkspaceMounts=true",
		"--mount-proxy-allowed-hosts=127.0.0.1", "--mount-proxy-ca-file="+elsewhere.CA,
		"--mount-proxy-client-cert-file="+filepath.Join(directory, "proxy.crt"), "--mount-proxy-client-key-file="+filepath.Join(directory, "proxy.key")))
	path := s.mountable(t)
	inside := s.as(t, alice, path)
	inside.mounted("m", elsewhere.URL, "Ready")
	inside.phase("m", corev1alpha1.PhaseReady)
	account := in[struct{ Status struct{ Token string } }](inside, inside.post("/api/v1/namespaces/default/serviceaccounts/default/token",
		`{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{}}`)).Status.Token
	cluster := inside.cluster().Annotations["kcp.io/cluster"]
	for name, tc := range map[string]struct {
		reason, token, user string
		groups              []string
	}{
		"User":           {"a user goes by his name and groups", alice, aliceName, []string{"team-1", "system:authenticated"}},
		"Master":         {"power over this server is none over another", s.master, "shard-admin", []string{"system:authenticated"}},
		"Admin":          {"nor are administrators of workspaces any there", s.admin, "kcp-admin", []string{"system:authenticated"}},
		"Anonymous":      {"nobody is nobody", "", "system:anonymous", []string{"system:unauthenticated"}},
		"ServiceAccount": {"the account of a workspace is not the one of its name over there", account, "system:kcp:serviceaccount:" + cluster + ":default:default", []string{"system:authenticated", "system:cluster:" + cluster}},
	} {
		t.Run(name, func(t *testing.T) {
			what := reached(t, s.as(t, tc.token, path+":m").do(http.MethodGet, "/api", "", "",
				"X-Remote-User", "forged", "X-Remote-Group", "system:masters", "Impersonate-User", "somebody"))
			if got := what.Header.Values("X-Remote-User"); len(got) != 1 || got[0] != tc.user {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.user)
			}
			if diff := cmp.Diff(tc.groups, what.Header.Values("X-Remote-Group")); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if what.Header.Get("Authorization") != "" || what.Header.Get("Impersonate-User") != "somebody" || !strings.HasPrefix(what.Client, "front-proxy") {
				t.Errorf("%s: got %+v", tc.reason, what)
			}
			for header := range what.Header {
				if strings.HasPrefix(header, "X-Remote-Extra-") && strings.Contains(strings.ToLower(header), "kcp.io") {
					t.Errorf("what means something in workspaces means nothing there: %s", header)
				}
			}
		})
	}
	s.as(t, "no-token-at-all", path+":m").get("/api").is(t, 401)
}
