package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

func TestExecute(t *testing.T) {
	refused := &url.Error{Op: "Get", URL: "https://host:6443/clusters/root/api", Err: &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}}
	cases := map[string]struct {
		reason string
		args   []string
		err    error
		stderr string
		code   int
	}{
		"Done": {reason: "nothing is said about success"},
		"Error": {
			reason: "an error is one line",
			err:    errors.New("no\r\nway"), stderr: "error: no way\n", code: 1,
		},
		"Escape": {
			reason: "a server's message cannot drive the terminal",
			err:    errors.New("a\x1b[2Jb"), stderr: "error: a\uFFFD[2Jb\n", code: 1,
		},
		"Hints": {
			reason: "at most two hints follow, from the outside to the inside",
			err:    Hint(fmt.Errorf("a: %w", Hint(errors.New("b"), "two", "three")), "one"),
			stderr: "error: a: b\nhint: one\nhint: two\n", code: 1,
		},
		"Arguments": {
			reason: "a wrong call shows how to call",
			args:   []string{"x", "y"},
			stderr: "error: accepts at most 1 arg(s), received 2\nusage: test [X] [flags]\n", code: 1,
		},
		"UnknownFlag": {
			reason: "so does a flag that is not there",
			args:   []string{"--no"},
			stderr: "error: unknown flag: --no\nusage: test [X] [flags]\n", code: 1,
		},
		"DeadServer": {
			reason: "the server and the reason matter, not the request",
			err:    fmt.Errorf("looking: %w", refused),
			stderr: "error: looking: cannot reach the server https://host:6443: connection refused\n", code: 1,
		},
		"TimedOut": {
			reason: "what Go calls a clock that ran out tells nobody anything",
			err:    &url.Error{Op: "Get", URL: "https://host:6443/clusters/root/api", Err: context.DeadlineExceeded},
			stderr: "error: cannot reach the server https://host:6443: it has not answered in time\n", code: 1,
		},
		"Unauthorized": {
			reason: "an expired token is explained",
			err:    apierrors.NewUnauthorized("Unauthorized"),
			stderr: "error: Unauthorized\nhint: the server does not accept the credentials in the kubeconfig; they may have expired\n", code: 1,
		},
		"No": {
			reason: "an answer is no error, and scripts can tell the two apart",
			err:    fmt.Errorf("asked: %w", ErrNo), code: 3,
		},
		"Cancelled": {
			reason: "how libraries spell ctrl-c is not for people",
			err:    context.Canceled, stderr: "error: interrupted\n", code: 1,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			build := func(Streams) *cobra.Command {
				return &cobra.Command{Use: "test [X]", Args: Args(cobra.MaximumNArgs(1)), RunE: func(*cobra.Command, []string) error { return tc.err }}
			}
			var out, errOut bytes.Buffer
			code := Execute(t.Context(), Streams{Out: &out, ErrOut: &errOut}, build, append([]string{}, tc.args...))
			if code != tc.code || errOut.String() != tc.stderr || out.Len() > 0 {
				t.Errorf("%s: exit code %d, stdout %q, stderr\n%s\nwant %d and\n%s", tc.reason, code, out.String(), errOut.String(), tc.code, tc.stderr)
			}
		})
	}
}

func TestExitCodeAfterSignal(t *testing.T) {
	cases := map[string]struct {
		signal syscall.Signal
		want   int
	}{
		"Interrupted": {syscall.SIGINT, 130},
		"Terminated":  {syscall.SIGTERM, 143},
		"HungUp":      {syscall.SIGHUP, 129},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			build := func(Streams) *cobra.Command {
				return &cobra.Command{Use: "test", RunE: func(cmd *cobra.Command, _ []string) error {
					cancel(stopped{signal: tc.signal})
					return cmd.Context().Err()
				}}
			}
			var errOut bytes.Buffer
			if got := Execute(ctx, Streams{ErrOut: &errOut}, build, []string{}); got != tc.want {
				t.Errorf("exit code %d, want %d", got, tc.want)
			}
		})
	}
}
