package server_test

import (
	"bufio"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/forkless/kcp/internal/servertest"
)

func TestRequestTimeout(t *testing.T) {
	ordinary := servertest.Start(t)
	hasty := servertest.Start(t, "--request-timeout=1ns")
	cases := map[string]struct {
		reason string
		server *servertest.Server
		path   string
		code   int
		status metav1.StatusReason
	}{
		"Flag":       {"no request is as quick", hasty, "/api/v1/namespaces", http.StatusGatewayTimeout, metav1.StatusReasonTimeout},
		"Asked":      {"a client may have less patience than the server", ordinary, "/api/v1/namespaces?timeout=1ns", http.StatusGatewayTimeout, metav1.StatusReasonTimeout},
		"AskedMore":  {"nobody gets more than the server has", hasty, "/api/v1/namespaces?timeout=1h", http.StatusGatewayTimeout, metav1.StatusReasonTimeout},
		"AskedWell":  {"as kubectl --request-timeout does", ordinary, "/api/v1/namespaces?timeout=10s", http.StatusOK, ""},
		"AskedBadly": {"it is told, not guessed at", ordinary, "/api/v1/namespaces?timeout=soon", http.StatusBadRequest, metav1.StatusReasonBadRequest},
		"Watch": {
			"a watch runs for as long as it asks to", hasty,
			"/api/v1/namespaces?watch=1&timeoutSeconds=1", http.StatusOK, "",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			method, content := http.MethodGet, io.Reader(http.NoBody)
			if tc.code == http.StatusGatewayTimeout {
				// What would be answered at once may be answered in spite of the time, so
				// the server waits for something that never comes.
				reader, writer := io.Pipe()
				defer func() { _ = writer.Close() }()
				method, content = http.MethodPost, reader
			}
			code, body := send(t, tc.server.In(t, "base", "root"), method, tc.path, content)
			if code != tc.code {
				t.Fatalf("%s: got %d, want %d: %s", tc.reason, code, tc.code, body)
			}
			if tc.status == "" {
				return
			}
			var status metav1.Status
			if err := json.Unmarshal(body, &status); err != nil || status.Status != metav1.StatusFailure || status.Reason != tc.status {
				t.Errorf("%s: the answer is %s", tc.reason, body)
			}
		})
	}
}

// unfinished sends the head of a request that writes, and no body, so that the server
// goes on waiting for it. It returns when the server has answered, or is certain not to
// before it has the body.
type unfinished struct {
	conn   *tls.Conn
	reader *bufio.Reader
}

// hang opens such a request on a connection of its own. The server reads the body last,
// so it is in flight by the time that the answer to "Expect: 100-continue" comes.
func hang(t *testing.T, config *rest.Config, path string) unfinished {
	t.Helper()
	tlsConfig, err := rest.TLSConfigFor(config)
	if err != nil {
		t.Fatal(err)
	}
	tlsConfig.NextProtos = []string{"http/1.1"}
	host, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := (&tls.Dialer{Config: tlsConfig}).DialContext(t.Context(), "tcp", host.Host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_, err = fmt.Fprintf(conn, "POST %s%s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"+
		"Content-Length: 10\r\nExpect: 100-continue\r\n\r\n", host.Path, path, host.Host, config.BearerToken)
	if err != nil {
		t.Fatal(err)
	}
	u := unfinished{conn.(*tls.Conn), bufio.NewReader(conn)}
	line, err := u.reader.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(line, "100 Continue") {
		t.Fatalf("a request that should hang is answered: %s", line)
	}
	return u
}

// TestRequestsInFlight takes all seats that a workspace may have with requests that do not
// end, and looks at who is served all the same.
func TestRequestsInFlight(t *testing.T) {
	if testing.Short() {
		t.Skip("needs 300 connections")
	}
	s := servertest.Start(t, servertest.WithUsers(t))
	s.Workspace(t, "root", "other")
	allow(t, s, "root", "user-1")
	allow(t, s, "root:other", "user-1")
	user, master := s.As(t, "user-1-token", "root"), s.As(t, "admin-token", "root")
	elsewhere := s.As(t, "user-1-token", "root:other")
	const configMaps = "/api/v1/namespaces/default/configmaps"
	for _, as := range []*rest.Config{user, elsewhere} {
		servertest.Eventually(t, "the binding counts", func() (bool, any) {
			code, _ := get(t, as, configMaps)
			return code == http.StatusOK, code
		})
	}
	var hanging []unfinished
	for range 300 {
		hanging = append(hanging, hang(t, user, configMaps))
	}

	client, err := rest.HTTPClientFor(user)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Get(user.Host + configMaps)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
	if response.StatusCode != http.StatusTooManyRequests || response.Header.Get("Retry-After") != "1" {
		t.Errorf("the 301st request is answered with %d, Retry-After %q", response.StatusCode, response.Header.Get("Retry-After"))
	}
	if code, _ := get(t, elsewhere, configMaps); code != http.StatusOK {
		t.Errorf("a request to a workspace that has no others is answered with %d", code)
	}
	if code, _ := get(t, user, configMaps+"?watch=1&timeoutSeconds=1"); code != http.StatusOK {
		t.Errorf("a watch is answered with %d", code)
	}
	if code, _ := get(t, master, configMaps); code != http.StatusOK {
		t.Errorf("a privileged request is answered with %d", code)
	}
	peak := 0.0
	for _, metric := range scrape(t, s)["apiserver_current_inflight_requests"].GetMetric() {
		peak = max(peak, metric.GetGauge().GetValue())
	}
	if peak < 300 {
		t.Errorf("the metric of requests in flight is %v", peak)
	}

	for _, u := range hanging[:150] {
		_ = u.conn.Close()
	}
	servertest.Eventually(t, "seats are given back", func() (bool, any) {
		code, _ := get(t, user, configMaps)
		return code == http.StatusOK, code
	})
}

func TestHealth(t *testing.T) {
	s := servertest.Start(t, servertest.WithUsers(t))
	nobody := rest.AnonymousClientConfig(s.Config(t, "base"))
	nobody.Host = s.URL()
	inRoot := rest.CopyConfig(nobody)
	inRoot.Host += "/clusters/root"
	privileged := s.As(t, "admin-token", "")
	privileged.Host = s.URL()
	cases := map[string]struct {
		reason string
		as     *rest.Config
		path   string
		code   int
		says   []string
		not    []string
	}{
		"Live":        {"load balancers have no credentials", nobody, "/livez", 200, []string{"ok"}, nil},
		"Ready":       {"the same", nobody, "/readyz", 200, []string{"ok"}, nil},
		"Health":      {"the older name of both", nobody, "/healthz", 200, []string{"ok"}, nil},
		"InWorkspace": {"a kubeconfig points there", inRoot, "/readyz", 200, []string{"ok"}, nil},
		"Verbose": {
			"each check says how it is", nobody, "/readyz?verbose", 200,
			[]string{
				"[+]ping ok", "[+]etcd ok", "[+]poststarthook/kcp-start-informers ok", "[+]poststarthook/kcp-bootstrap-policy ok",
				"[+]poststarthook/kcp-start-controllers ok", "[+]shutdown ok", "readyz check passed",
			}, nil,
		},
		"Exclude": {
			"an operator knows better", nobody, "/readyz?verbose&exclude=etcd", 200,
			[]string{"[+]etcd excluded: ok"}, []string{"[+]etcd ok"},
		},
		"ExcludeUnknown": {
			"a typing error is told", nobody, "/readyz?verbose&exclude=nothing", 200,
			[]string{`warn: some health checks cannot be excluded: no matches for "nothing"`}, nil,
		},
		"One":           {"for those who may", privileged, "/livez/etcd", 200, []string{"ok"}, nil},
		"OneAnonymous":  {"checks by themselves are not for everybody", nobody, "/livez/etcd", 403, nil, nil},
		"OneOfNothing":  {"there is no such check", privileged, "/livez/nothing", 404, nil, nil},
		"StartupByName": {"so that who waits knows for what", privileged, "/readyz/poststarthook/kcp-start-controllers", 200, []string{"ok"}, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			code, body := get(t, tc.as, tc.path)
			if code != tc.code {
				t.Errorf("%s: got %d, want %d: %s", tc.reason, code, tc.code, body)
			}
			for _, text := range tc.says {
				if !strings.Contains(string(body), text) {
					t.Errorf("%s: %q is not in\n%s", tc.reason, text, body)
				}
			}
			for _, text := range tc.not {
				if strings.Contains(string(body), text) {
					t.Errorf("%s: %q is in\n%s", tc.reason, text, body)
				}
			}
		})
	}
}

// TestProfilesAreForThePrivileged: they tell of the whole process, and of all tenants.
func TestProfilesAreForThePrivileged(t *testing.T) {
	s := servertest.Start(t, servertest.WithUsers(t))
	without := servertest.Start(t, servertest.WithUsers(t), "--profiling=false")
	allow(t, s, "root", "user-1")
	client, err := kubernetes.NewForConfig(s.As(t, "user-1-token", "root"))
	if err != nil {
		t.Fatal(err)
	}
	servertest.Eventually(t, "the binding counts", func() (bool, any) {
		_, err := client.CoreV1().Secrets("").List(t.Context(), metav1.ListOptions{})
		return err == nil, err
	})
	cases := map[string]struct {
		reason string
		server *servertest.Server
		token  string
		path   string
		code   int
	}{
		"Privileged":  {"who runs the server looks inside", s, "admin-token", "/debug/pprof/goroutine", 200},
		"User":        {"nobody else does", s, "user-1-token", "/debug/pprof/goroutine", 403},
		"OfWorkspace": {"the administrator of a workspace does not", s, "user-1-token", "/clusters/root/debug/pprof/goroutine", 403},
		"Off":         {"the flag turns it off", without, "admin-token", "/debug/pprof/goroutine", 404},
		"OffLevel":    {"and with it what changes the log", without, "admin-token", "/debug/flags/v", 404},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			config := tc.server.As(t, tc.token, "")
			config.Host = tc.server.URL()
			if code, body := get(t, config, tc.path); code != tc.code {
				t.Errorf("%s: got %d, want %d: %s", tc.reason, code, tc.code, body)
			}
		})
	}
}
