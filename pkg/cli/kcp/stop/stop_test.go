package stop

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/forkless/kcp/internal/rootdir"
	"github.com/forkless/kcp/pkg/cli/run"
)

func TestRun(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		// held says that there is a server, letsGo that it stops when asked to.
		held, letsGo bool
		signalErr    error
		out, errOut  string
		err          string
	}{
		"Running":    {reason: "a server is stopped", held: true, letsGo: true, out: "kcp pid 4711 has stopped\n"},
		"NotRunning": {reason: "stopping twice is no mistake", errOut: "nothing is running in DIRECTORY\n"},
		"Stuck":      {reason: "a server that does not stop is reported", held: true, err: "pid 4711 has not stopped after 50ms"},
		"Foreign":    {reason: "a server of somebody else cannot be stopped", held: true, signalErr: errors.New("not permitted"), err: "stopping pid 4711: not permitted"},
	} {
		t.Run(name, func(t *testing.T) {
			directory := t.TempDir()
			var held *rootdir.Directory
			if tc.held {
				var err error
				if held, err = rootdir.Open(directory, ".kcp", rootdir.Holder{PID: 4711, Started: time.Now()}); err != nil {
					t.Fatal(err)
				}
				if !tc.letsGo {
					defer func() { _ = held.Close() }()
				}
			}
			var out, errOut bytes.Buffer
			o := &Options{
				RootDirectory: directory,
				Timeout:       50 * time.Millisecond,
				streams:       run.Streams{Out: &out, ErrOut: &errOut},
				signal: func(pid int) error {
					if pid != 4711 {
						t.Errorf("pid %d is asked to stop", pid)
					}
					if tc.letsGo {
						return held.Close()
					}
					return tc.signalErr
				},
			}
			err := o.Run(t.Context())
			if got := text(err); got != tc.err {
				t.Errorf("%s: got error %q, want %q", tc.reason, got, tc.err)
			}
			if diff := cmp.Diff(tc.out, out.String()); diff != "" {
				t.Errorf("%s: stdout (-want +got)\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.errOut, strings.ReplaceAll(errOut.String(), directory, "DIRECTORY")); diff != "" {
				t.Errorf("%s: stderr (-want +got)\n%s", tc.reason, diff)
			}
		})
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
