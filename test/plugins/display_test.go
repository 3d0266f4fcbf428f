package plugins

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/forkless/kcp/internal/servertest/address"
)

// TestHelp sees that the help of each command can be read everywhere, and says what it
// has to.
func TestHelp(t *testing.T) {
	for _, c := range commands() {
		t.Run(c.line(), func(t *testing.T) {
			for _, s := range surfaces {
				s.use(t)
				r := s.call(t, c, "--help")
				s.check(t, c, []string{"--help"}, r)
				if r.code != 0 || r.stderr != "" {
					t.Errorf("help ends with %d, and says\n%s", r.code, r.stderr)
				}
				if !strings.Contains(r.stdout, "Usage:\n  kubectl ") {
					t.Errorf("help does not show how to call the command:\n%s", r.stdout)
				}
			}
			if c.cobra.Short == "" {
				t.Error("it has no short description")
			}
			if flag := c.cobra.Flags().ShorthandLookup("w"); flag != nil && flag.Name != "workspace" {
				t.Errorf("-w is the workspace, never --%s", flag.Name)
			}
		})
	}
}

// TestMisuse sees that a wrong call is an error that shows how to call.
func TestMisuse(t *testing.T) {
	s := surfaces[0]
	s.use(t)
	for _, c := range commands() {
		t.Run(c.line(), func(t *testing.T) {
			r := s.call(t, c, "--no-such-flag")
			if want := "error: unknown flag: --no-such-flag\nusage: kubectl "; r.code != 1 || r.stdout != "" || !strings.HasPrefix(r.stderr, want) {
				t.Errorf("an unknown flag ends with %d\n%s", r.code, r.all())
			}
			many := strings.Fields(strings.Repeat("x ", 20))
			if c.cobra.Args != nil && c.cobra.Args(c.cobra, many) != nil {
				r := s.call(t, c, many...)
				if r.code != 1 || r.stdout != "" || !strings.HasPrefix(r.stderr, "error: ") || !strings.Contains(r.stderr, "\nusage: kubectl ") {
					t.Errorf("20 arguments end with %d\n%s", r.code, r.all())
				}
			}
			if flag := c.cobra.Flags().Lookup("output"); flag != nil && flag.Shorthand == "o" {
				args := append(arguments(c), "-o", "nonsense")
				if r := s.call(t, c, args...); r.code != 1 || r.stdout != "" || !strings.Contains(r.stderr, "nonsense") {
					t.Errorf("-o nonsense ends with %d\n%s", r.code, r.all())
				}
			}
		})
	}
}

// TestBadServers calls every command on servers that answer nothing that is of use, and
// sees that each says so in a line, on whatever surface.
func TestBadServers(t *testing.T) {
	status := func(code int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(code)
			_, _ = w.Write([]byte(body))
		}
	}
	servers := map[string]http.HandlerFunc{
		"Dead":         nil,
		"Unauthorized": status(http.StatusUnauthorized, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401}`),
		"Forbidden":    status(http.StatusForbidden, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"access denied","reason":"Forbidden","code":403}`),
		"Missing":      status(http.StatusNotFound, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"the server could not find the requested resource","reason":"NotFound","code":404}`),
		"Broken":       status(http.StatusInternalServerError, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"a\u001b[2Jb\nc","reason":"InternalError","code":500}`),
		"Proxy":        func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>login</html>")) },
	}
	for name, handler := range servers {
		t.Run(name, func(t *testing.T) {
			url := "http://" + address.Free(t)
			if handler != nil {
				server := httptest.NewServer(handler)
				defer server.Close()
				url = server.URL
			}
			for _, c := range distinct() {
				t.Run(c.line(), func(t *testing.T) {
					useKubeconfig(t, url+"/clusters/root")
					args := arguments(c)
					for _, s := range strict() {
						s.use(t)
						s.check(t, c, args, s.call(t, c, args...))
					}
				})
			}
		})
	}
}

// useKubeconfig gives the test a home directory with a kubeconfig for server.
func useKubeconfig(t *testing.T, server string) (file string) {
	t.Helper()
	home := t.TempDir()
	file = filepath.Join(home, "config")
	content := `apiVersion: v1
kind: Config
current-context: here
clusters: [{name: here, cluster: {server: "` + server + `"}}]
contexts: [{name: here, context: {cluster: here, user: me}}]
users: [{name: me, user: {token: secret}}]
`
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	t.Setenv("XDG_CACHE_HOME", filepath.Join(home, "cache"))
	t.Setenv("KUBECONFIG", file)
	return file
}

// arguments returns arguments with which a command can be called: those of its sample,
// or words without meaning, as many as it wants. Nothing asks or waits for long.
func arguments(c command) []string {
	args := strings.Fields(samples[c.line()])
	if _, ok := samples[c.line()]; !ok {
		for range 3 {
			if c.cobra.Args == nil || c.cobra.Args(c.cobra, args) == nil {
				break
			}
			args = append(args, "x")
		}
	}
	for i := range args {
		args[i] = strings.NewReplacer("NEW", "new", "WS", "root").Replace(args[i])
	}
	c.cobra.Flags().VisitAll(func(f *pflag.Flag) {
		switch f.Name {
		case "yes":
			args = append(args, "--yes")
		case "timeout":
			args = append(args, "--timeout=100ms")
		}
	})
	return args
}

func diff(want, got result) string { return cmp.Diff(want, got, cmp.AllowUnexported(result{})) }
