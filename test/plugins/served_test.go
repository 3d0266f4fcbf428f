package plugins

import (
	"encoding/pem"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/forkless/kcp/internal/servertest"
	"github.com/forkless/kcp/pkg/cli/display"
)

// served is a server with something to work on.
type served struct {
	*servertest.Server
	names atomic.Int64
}

func newServed(t *testing.T) *served {
	t.Helper()
	return &served{Server: servertest.Start(t, servertest.WithUsers(t))}
}

// workspace makes a workspace with a child, an export of widgets, and a binding to that
// with an open claim, all of it by the plugins, and returns its path.
func (s *served) workspace(t *testing.T) string {
	t.Helper()
	path := "root:" + s.Workspace(t, "root", "").Name
	s.login(t, s.URL(), path, nil)
	for _, line := range []string{
		"ws create child",
		"kcp export init -f testdata/widgets.yaml --name widgets --claim configmaps=get --apply",
		"kcp bind apiexport " + path + ":widgets",
	} {
		if r := s.run(t, surfaces[0], line); r.code != 0 {
			t.Fatalf("$ kubectl %s\n%s", line, r.all())
		}
	}
	return path
}

// login gives the test a kubeconfig that leads to a workspace of the server at address,
// as the administrator, and in another context as an ordinary user. ca is who vouches for
// the address, nil for the server's own.
func (s *served) login(t *testing.T, address, path string, ca []byte) (file string) {
	t.Helper()
	file = useKubeconfig(t, address+"/clusters/"+path)
	config, err := clientcmd.LoadFromFile(s.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	base := config.Clusters["base"].DeepCopy()
	base.Server = address
	if ca != nil {
		base.CertificateAuthorityData = ca
	}
	here := base.DeepCopy()
	here.Server = address + "/clusters/" + path
	config.Clusters = map[string]*api.Cluster{"base": base, "here": here}
	config.Contexts = map[string]*api.Context{
		"base": {Cluster: "base", AuthInfo: "kcp-admin"},
		"here": {Cluster: "here", AuthInfo: "kcp-admin"},
		"user": {Cluster: "here", AuthInfo: "user-1"},
	}
	config.AuthInfos["user-1"] = &api.AuthInfo{Token: "user-1-token"}
	config.CurrentContext = "here"
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		t.Fatal(err)
	}
	return file
}

// run calls a command by its line.
func (s *served) run(t *testing.T, on surface, line string) result {
	t.Helper()
	words := strings.Fields(line)
	for _, p := range programs {
		called := strings.Fields(p.called)
		if len(words) >= len(called) && slices.Equal(words[:len(called)], called) && (p.called != "ws" || words[0] == "ws") {
			return on.call(t, command{program: p}, words[len(called):]...)
		}
	}
	t.Fatalf("there is no program for %q", line)
	return result{}
}

// arguments returns the arguments of a sample, or nonsense, for the workspace path.
func (s *served) arguments(c command, path string) []string {
	args := arguments(c)
	if sample, ok := samples[c.line()]; ok {
		args = strings.Fields(sample)
	}
	name := fmt.Sprintf("new-%d", s.names.Add(1))
	for i := range args {
		args[i] = strings.NewReplacer("NEW", name, "WS", path).Replace(args[i])
	}
	return args
}

// ages are how long something has been as it is, with the spaces that fill a column.
var ages = regexp.MustCompile(`\b\d+(ms|[smhd])\b *`)

// TestDisplays calls each command against a real server on each surface.
func TestDisplays(t *testing.T) {
	s := newServed(t)
	for _, c := range distinct() {
		t.Run(c.line(), func(t *testing.T) {
			path := s.workspace(t)
			var narrow result
			for i, on := range surfaces {
				on.use(t)
				s.login(t, s.URL(), path, nil)
				args := s.arguments(c, path)
				r := on.call(t, c, args...)
				on.check(t, c, args, r)
				if _, ok := samples[c.line()]; ok && r.code != 0 && r.code != 3 {
					t.Errorf("$ kubectl %s %s\nends with %d on a %s:\n%s", c.line(), strings.Join(args, " "), r.code, on.name, r.all())
				}
				switch {
				case i == 0:
					narrow = r
				case i == 1 && !strings.Contains(samples[c.line()], "NEW"):
					// What is said about progress depends on how long things took.
					narrow.stderr, r.stderr = "", ""
					// So does an age.
					narrow.stdout, r.stdout = ages.ReplaceAllString(narrow.stdout, "AGE"), ages.ReplaceAllString(r.stdout, "AGE")
					if d := diff(narrow, r); d != "" && different[c.line()] == "" {
						t.Errorf("$ kubectl %s %s\nwhat a pipe gets depends on COLUMNS (-40 +200):\n%s", c.line(), strings.Join(args, " "), d)
					}
				}
			}
		})
	}
}

// different are commands that print something else each time, with the reason.
var different = map[string]string{"kcp doctor": "it says how long things took"}

// TestTables sees that tables fit onto a terminal, and are whole in a pipe.
func TestTables(t *testing.T) {
	s := newServed(t)
	s.workspace(t)
	for _, line := range []string{"kcp claims get apibinding --wide", "kcp exports", "ws ls --wide"} {
		full := 0
		for i, on := range surfaces {
			on.use(t)
			r := s.run(t, on, line)
			widest, cut := measure(r.stdout)
			if i == 0 {
				full = widest
			}
			width, err := strconv.Atoi(on.env["COLUMNS"])
			if narrow := err == nil && on.terminal && width < full; narrow && widest > width || !narrow && (cut || widest != full) {
				t.Errorf("$ kubectl %s\non a %s, of the %d columns in a pipe there are %d, cut: %t\n%s", line, on.name, full, widest, cut, r.stdout)
			}
		}
	}
}

// measure returns how many columns the longest line has, and whether anything was cut.
func measure(s string) (widest int, cut bool) {
	for line := range strings.Lines(s) {
		widest = max(widest, display.Cells(strings.TrimSuffix(line, "\n")))
	}
	return widest, strings.Contains(s, "…") || strings.Contains(s, "...")
}

// TestOriginalServer sees that commands get along with what the original server serves,
// and say so where they do not.
func TestOriginalServer(t *testing.T) {
	s := newServed(t)
	proxy := newOriginal(t, s.Server)
	front := httptest.NewTLSServer(proxy)
	defer front.Close()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: front.Certificate().Raw})
	on := surfaces[0]
	on.use(t)
	for _, c := range distinct() {
		if _, ok := samples[c.line()]; !ok {
			continue
		}
		t.Run(c.line(), func(t *testing.T) {
			path := s.workspace(t)
			s.login(t, front.URL, path, ca)
			args := s.arguments(c, path)
			r := on.call(t, c, args...)
			on.check(t, c, args, r)
			if r.code != 0 && r.code != 3 && !strings.HasPrefix(r.stderr, "error: this server does not ") {
				t.Errorf("$ kubectl %s %s\nends with %d, after the requests %q that the original does not know:\n%s",
					c.line(), strings.Join(args, " "), r.code, proxy.refused(), r.all())
			}
		})
	}
}

// TestNothingIsLeftBehind keeps what commands write out of the checkout.
func TestNothingIsLeftBehind(t *testing.T) {
	entries, err := filepath.Glob("*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range entries {
		if info, err := os.Stat(name); err == nil && !strings.HasSuffix(name, ".go") && (!info.IsDir() || name != "testdata") {
			t.Errorf("a command has left %s behind", name)
		}
	}
}
