package status

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/forkless/kcp/internal/registry"
	"github.com/forkless/kcp/internal/rootdir"
	"github.com/forkless/kcp/pkg/cli/display"
	"github.com/forkless/kcp/pkg/cli/kcp/running"
	"github.com/forkless/kcp/pkg/cli/output"
	"github.com/forkless/kcp/pkg/cli/run"
)

var began = time.Date(2026, 8, 20, 10, 2, 0, 0, time.UTC)

func of[T any](v T) *T { return &v }

// server is one that runs in a directory and is registered.
func server(t *testing.T, directory, id string) {
	t.Helper()
	held, err := rootdir.Open(directory, ".kcp", rootdir.Holder{
		PID: 4711, Started: began, Version: "v0.3.0", URL: "https://127.0.0.1:6443", Kubeconfig: filepath.Join(directory, "admin.kubeconfig"),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = held.Close() })
	release, err := registry.Register(registry.Entry{
		ID: id, PID: 4711, RootDirectory: directory, URL: "https://127.0.0.1:6443", Version: "v0.3.0", Started: began,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = release() })
}

func TestRun(t *testing.T) {
	for name, tc := range map[string]struct {
		reason  string
		servers int
		all     bool
		format  string
		answer  answer
		want    string
		errOut  string
		err     error
	}{
		"One": {
			reason: "people read lines", servers: 1, answer: answer{ready: true, memory: of[int64](74 << 20), workspaces: of[int64](12)},
			want: "URL:            https://127.0.0.1:6443\nPID:            4711\nVersion:        v0.3.0\nUptime:         3m12s\n" +
				"Memory:         74 MiB\nWorkspaces:     12\nRoot directory: DIRECTORY/0\n",
		},
		"Hanging": {
			reason: "one that does not answer is shown", servers: 1,
			want: "URL:            https://127.0.0.1:6443 (not ready)\nPID:            4711\nVersion:        v0.3.0\nUptime:         3m12s\n" +
				"Memory:         unknown\nWorkspaces:     unknown\nRoot directory: DIRECTORY/0\n",
		},
		"Document": {
			reason: "programs read fields", servers: 1, format: "jsonpath={.kind} {.metadata.name} {.uptimeSeconds} {.workspaces} {.memoryBytes} {.ready}",
			answer: answer{ready: true, memory: of[int64](1), workspaces: of[int64](0)},
			want:   "ServerStatus kcp-0 192 0 1 true",
		},
		"All": {
			reason: "each has a line", servers: 2, all: true, answer: answer{ready: true, memory: of[int64](74 << 20), workspaces: of[int64](12)},
			want: "ID      PID    URL                      UPTIME   MEMORY   WORKSPACES   VERSION   ROOT DIRECTORY\n" +
				"kcp-0   4711   https://127.0.0.1:6443   3m12s    74 MiB   12           v0.3.0    DIRECTORY/0\n" +
				"kcp-1   4711   https://127.0.0.1:6443   3m12s    74 MiB   12           v0.3.0    DIRECTORY/1\n",
		},
		"AllNames": {reason: "lists have names, too", servers: 2, all: true, format: "name", want: "serverstatus.cli.kcp.io/kcp-0\nserverstatus.cli.kcp.io/kcp-1\n"},
		"None":     {reason: "the answer is no", errOut: "nothing is running in DIRECTORY/0\n", err: run.ErrNo},
		"NoneOf":   {reason: "the answer is no", all: true, errOut: "nothing is running of yours\n", err: run.ErrNo},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
			t.Setenv("TMPDIR", t.TempDir())
			directory := t.TempDir()
			for i := range tc.servers {
				server(t, filepath.Join(directory, string(rune('0'+i))), "kcp-"+string(rune('0'+i)))
			}
			var out, errOut bytes.Buffer
			o := &Options{
				RootDirectory: filepath.Join(directory, "0"), All: tc.all, Output: output.New(false),
				streams: run.Streams{Out: &out, ErrOut: &errOut},
				now:     func() time.Time { return began.Add(3*time.Minute + 12*time.Second) },
				ask:     func(context.Context, running.Server) answer { return tc.answer },
			}
			o.Output.Format = tc.format
			if err := o.Run(t.Context()); !errors.Is(err, tc.err) {
				t.Errorf("%s: got error %v, want %v", tc.reason, err, tc.err)
			}
			if diff := cmp.Diff(tc.want, strings.ReplaceAll(out.String(), directory, "DIRECTORY")); diff != "" {
				t.Errorf("%s: stdout (-want +got)\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.errOut, strings.ReplaceAll(errOut.String(), directory, "DIRECTORY")); diff != "" {
				t.Errorf("%s: stderr (-want +got)\n%s", tc.reason, diff)
			}
		})
	}
}

// TestNarrow: what is to be copied stays on a narrow terminal.
func TestNarrow(t *testing.T) {
	const id = "kcp-e3a18f1d02"
	view := newView(running.Server{ID: id, PID: 4711, URL: "https://127.0.0.1:36443", RootDirectory: "/home/adam/a/long/way/down/to/.kcp", Started: began}, answer{ready: true}, began)
	for width, want := range map[int]string{
		60: "ID               URL                       ROOT DIRECTORY\n" + id + "   https://127.0.0.1:36443   /home/ad…/to/.kcp\n",
		40: "ID               URL\n" + id + "   https://127.0.0.1:36443\n",
		30: "ID               URL\n" + id + "   https:…:36443\n",
	} {
		var out bytes.Buffer
		if err := writeAll(&out, display.Display{Terminal: true, Width: width}, false, []ServerStatus{view}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("%d columns (-want +got)\n%s", width, diff)
		}
	}
}
