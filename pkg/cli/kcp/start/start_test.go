package start

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/forkless/kcp/internal/launch"
	"github.com/forkless/kcp/internal/rootdir"
	"github.com/forkless/kcp/internal/version"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/server/options"
)

var update = flag.Bool("update", false, "rewrite golden files")

// golden compares got with a file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join(testdata, name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s: (-want +got)\n%s", path, diff)
	}
}

// fake is a server that is ready at once, unless it fails.
type fake struct {
	prepared *options.Prepared
	failure  error
	ready    chan struct{}
	onReady  func()
}

func (f *fake) Run(ctx context.Context) error {
	if f.failure != nil {
		return f.failure
	}
	close(f.ready)
	<-ctx.Done()
	return ctx.Err()
}

func (f *fake) Ready() <-chan struct{} { return f.ready }

func (f *fake) URL() string {
	if f.onReady != nil {
		f.onReady()
	}
	return f.prepared.URLs.External
}

// started is what was seen of a server.
type started struct{ out, errOut string }

// scene is one run of the command.
type scene struct {
	arguments []string
	terminal  bool
	failure   error
	construct error
}

// play runs the command in directory until the server is ready, then tells it to stop.
func (s scene) play(t *testing.T, directory string) (started, error) {
	t.Helper()
	t.Chdir(directory)
	// Nobody is to stop the test with "kcp stop --all".
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()

	var out, errOut bytes.Buffer
	streams := run.Streams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut}
	o := &Options{
		Server:   options.NewOptions(),
		streams:  streams,
		terminal: s.terminal,
		began:    time.Unix(0, 0),
		now:      func() time.Time { return time.Unix(0, 310_000_000) },
		info:     version.Info{Version: "v0.3.0", Kubernetes: "1.36.3"},
		newServer: func(_ context.Context, prepared *options.Prepared) (Server, error) {
			return &fake{prepared: prepared, failure: s.failure, ready: make(chan struct{}), onReady: cancel}, s.construct
		},
	}
	flags := pflag.NewFlagSet("start", pflag.ContinueOnError)
	o.Server.AddFlags(flags)
	if err := flags.Parse(s.arguments); err != nil {
		t.Fatal(err)
	}
	err := o.Run(ctx)
	return started{out: out.String(), errOut: errOut.String()}, err
}

func TestPresentation(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		scene  scene
		again  bool
	}{
		"new.txt": {
			reason: "the first start says where everything is",
			scene:  scene{terminal: true, arguments: []string{"--bind-address=127.0.0.1"}},
		},
		"again.txt": {
			reason: "a directory that was used before is not new",
			scene:  scene{terminal: true, arguments: []string{"--bind-address=127.0.0.1"}},
			again:  true,
		},
		"exposed.txt": {
			reason: "people should know that others can reach the server, and which flags do nothing",
			scene:  scene{terminal: true, arguments: []string{"--oidc-issuer-url=https://issuer", "--oidc-client-id=kcp"}},
		},
		"no-admin.txt": {
			reason: "without the battery there is no kubeconfig to name",
			scene:  scene{terminal: true, arguments: []string{"--batteries-included=-admin"}},
		},
		"quoted.txt": {
			reason: "what is shown can be pasted into a shell",
			scene:  scene{terminal: true, arguments: []string{"--bind-address=127.0.0.1", "--root-directory=my kcp"}},
		},
		"classic.txt": {
			reason: "people who ask for the log get to see it",
			scene:  scene{terminal: true, arguments: []string{"--bind-address=127.0.0.1", "-v=2"}},
		},
		"log.txt": {
			reason: "off a terminal there is a log, on standard error alone",
			scene:  scene{arguments: []string{"--oidc-issuer-url=https://issuer", "--oidc-client-id=kcp"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			directory := t.TempDir()
			tc.scene.arguments = append(tc.scene.arguments, "--secure-port=0")
			if tc.again {
				if _, err := tc.scene.play(t, directory); err != nil {
					t.Fatal(err)
				}
			}
			got, err := tc.scene.play(t, directory)
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			golden(t, name, "stdout:\n"+stable(got.out)+"stderr:\n"+stable(got.errOut))
		})
	}
}

func TestStopsCleanly(t *testing.T) {
	directory := t.TempDir()
	s := scene{arguments: []string{"--bind-address=127.0.0.1", "--secure-port=0"}}
	if _, err := s.play(t, directory); err != nil {
		t.Errorf("being told to stop is an error: %v", err)
	}
	if _, held, err := rootdir.HolderOf(filepath.Join(directory, ".kcp")); held || err != nil {
		t.Errorf("the directory is still held: %t, %v", held, err)
	}
}

func TestFailures(t *testing.T) {
	broken := errors.New("broken")
	for name, tc := range map[string]struct {
		reason string
		scene  scene
		want   string
	}{
		"Server":      {"what the server fails with is the error of the command", scene{failure: broken}, "error: broken\n"},
		"Constructor": {"a server that cannot be made fails the same way", scene{construct: broken}, "error: broken\n"},
		"Flags":       {"what is wrong with flags is said before anything happens", scene{arguments: []string{"--batteries-included=solar"}}, "error: --batteries-included: unknown battery \"solar\", known are admin, metrics-viewer, user, workload-types, workspace-types\n"},
	} {
		t.Run(name, func(t *testing.T) {
			tc.scene.arguments = append(tc.scene.arguments, "--bind-address=127.0.0.1", "--secure-port=0")
			_, err := tc.scene.play(t, t.TempDir())
			if err == nil {
				t.Fatalf("%s: there is no error", tc.reason)
			}
			var text bytes.Buffer
			run.Report(&text, err)
			if diff := cmp.Diff(tc.want, text.String()); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", tc.reason, diff)
			}
		})
	}
}

func TestHints(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		owner  launch.Owner
		want   string
	}{
		"Kcp": {
			"another kcp can be stopped",
			launch.Owner{PID: 4711, Name: "kcp", RootDirectory: "/home/adam/demo/.kcp"},
			"error: 127.0.0.1:6443 is in use by kcp pid 4711 (/home/adam/demo/.kcp)\n" +
				"hint: kcp stop --root-directory /home/adam/demo/.kcp, or --secure-port=0 for a free port\n",
		},
		"Unknown": {
			"anything else is none of our business",
			launch.Owner{},
			"error: 127.0.0.1:6443 is in use\nhint: --secure-port=0 takes a free port\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var text bytes.Buffer
			run.Report(&text, withHint(&launch.PortInUseError{Address: "127.0.0.1:6443", Owner: tc.owner}))
			if diff := cmp.Diff(tc.want, text.String()); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", tc.reason, diff)
			}
		})
	}
}

func TestSecondStart(t *testing.T) {
	directory := t.TempDir()
	holder := rootdir.Holder{PID: 4711, Started: time.Now()}
	first, err := rootdir.Open(filepath.Join(directory, ".kcp"), ".kcp", holder)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = first.Close() }()
	_, err = scene{arguments: []string{"--secure-port=0"}}.play(t, directory)
	want := ".kcp is in use by pid 4711, started " + holder.Started.Local().Format("15:04")
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestPortInUse(t *testing.T) {
	other, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	_, port, err := net.SplitHostPort(other.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	directory := t.TempDir()
	_, err = scene{arguments: []string{"--bind-address=127.0.0.1", "--secure-port=" + port}}.play(t, directory)
	if !errors.As(err, new(*launch.PortInUseError)) {
		t.Errorf("a port in use: %v", err)
	}
	if entries, err := os.ReadDir(directory); err != nil || len(entries) > 0 {
		t.Errorf("something was left behind: %v, %v", entries, err)
	}
}

func TestHelp(t *testing.T) {
	var out bytes.Buffer
	if code := run.Execute(t.Context(), run.Streams{Out: &out, ErrOut: &out}, newTestCommand, []string{"start", "--help"}); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	golden(t, "help.txt", out.String())
}

func TestOptionsListsAllFlags(t *testing.T) {
	var out bytes.Buffer
	if code := run.Execute(t.Context(), run.Streams{Out: &out, ErrOut: &out}, newTestCommand, []string{"start", "options"}); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	for _, flag := range []string{"--token-auth-file", "--etcd-servers", "--audit-log-path", "--vmodule", "--oidc-issuer-url"} {
		if !strings.Contains(out.String(), flag) {
			t.Errorf("%s is not listed", flag)
		}
	}
	if !strings.Contains(out.String(), options.NoEffectYet) {
		t.Error("flags without effect do not say so")
	}
}
