package kcpplugin

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/forkless/kcp/pkg/cli/run"
)

// kubeconfig has what "kcp start" writes.
const kubeconfig = `apiVersion: v1
kind: Config
current-context: here
clusters:
- {name: here, cluster: {server: "SERVER/clusters/root:here"}}
contexts:
- {name: here, context: {cluster: here, user: admin}}
users:
- {name: admin, user: {token: admin-token}}
`

// screen is a stream with somebody behind it.
type screen struct {
	io.Reader
	io.Writer
}

func (screen) IsTerminal() bool { return true }

// step is a call of the plugin with everything that must come of it.
type step struct {
	// line is the command without "kubectl".
	line           string
	stdout, stderr string
	fails          bool
	// typed is what somebody at a terminal types; without it there is no terminal.
	typed string
}

func (s *server) run(t *testing.T, st step) {
	t.Helper()
	var out, errOut bytes.Buffer
	streams := run.Streams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut}
	if st.typed != "" {
		streams.In, streams.ErrOut = screen{Reader: strings.NewReader(st.typed)}, screen{Writer: &errOut}
	}
	args := strings.Fields(strings.TrimPrefix(st.line, "kcp"))
	code := run.Execute(t.Context(), streams, NewPlugin, args)
	if diff := cmp.Diff(st.stdout, out.String()); diff != "" {
		t.Errorf("$ kubectl %s\nstdout (-want +got):\n%s", st.line, diff)
	}
	if diff := cmp.Diff(st.stderr, errOut.String()); diff != "" {
		t.Errorf("$ kubectl %s\nstderr (-want +got):\n%s", st.line, diff)
	}
	if want := map[bool]int{true: 1}[st.fails]; code != want {
		t.Errorf("$ kubectl %s\nexit code %d, want %d", st.line, code, want)
	}
}

// login makes s the server of the current kubeconfig.
func (s *server) login(t *testing.T) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(kubeconfig, "SERVER", s.URL)), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", file)
}

// runAll runs steps against a server that setup has prepared, and returns it.
func runAll(t *testing.T, setup func(*testing.T, *server), steps []step) *server {
	t.Helper()
	s := newServer(t)
	if setup != nil {
		setup(t, s)
	}
	s.login(t)
	for _, st := range steps {
		s.run(t, st)
	}
	return s
}

func TestGroups(t *testing.T) {
	runAll(t, nil, []step{
		{line: "kcp bnd", fails: true, stderr: "error: unknown command \"bnd\" for \"kubectl kcp\"\n" +
			"usage: kubectl kcp COMMAND [flags]\nhint: did you mean kubectl kcp bind?\n"},
		{line: "kcp claims get nothing", fails: true, stderr: "error: unknown command \"nothing\" for \"kubectl kcp claims get\"\n" +
			"usage: kubectl kcp claims get COMMAND [flags]\n"},
		{line: "kcp bind apiexport", fails: true, stderr: "error: accepts 1 arg(s), received 0\nusage: kubectl kcp bind apiexport PATH:EXPORT [flags]\n"},
		{line: "kcp ws .", stdout: "Current workspace is 'root:here'.\n"},
	})
}
