//go:build unix

package run

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/forkless/kcp/internal/servertest/another"
)

// stuckVariable makes this test binary a program that is told to stop and, unless its value
// is no, does not.
const stuckVariable = "RUN_TEST_STUCK"

func TestMain(m *testing.M) {
	if os.Getenv(stuckVariable) != "" {
		stuck()
	}
	os.Exit(m.Run())
}

// stuck says when it listens, and when it has been told to stop.
func stuck() {
	ctx, stop := Signals(context.Background())
	defer stop()
	_, _ = os.Stdout.WriteString("listening\n")
	<-ctx.Done()
	_, _ = os.Stdout.WriteString("told\n")
	if os.Getenv(stuckVariable) == "no" {
		os.Exit(exitCode(ctx, ctx.Err()))
	}
	time.Sleep(time.Hour)
}

// tell sends a process a signal once it has said a line.
func tell(t *testing.T, other *another.Process, line string, s os.Signal) {
	t.Helper()
	if got := other.Line(t); got != line {
		t.Fatalf("it says %q, want %q", got, line)
	}
	if err := other.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// TestFirstSignal: a program can clear away what it has made, and its exit code says why it
// has ended.
func TestFirstSignal(t *testing.T) {
	for s, want := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143, syscall.SIGHUP: 129} {
		if signal.Ignored(s) {
			// Programs started by nohup are not told, and pass that on.
			continue
		}
		o := another.Start(t, stuckVariable+"=no")
		tell(t, o, "listening", s)
		_ = o.Wait()
		if got := o.ProcessState.ExitCode(); got != want {
			t.Errorf("after %v it ended with %d, want %d", s, got, want)
		}
	}
}

// TestSecondSignal: a program that does not stop when it is told to is ended by who tells
// it a second time.
func TestSecondSignal(t *testing.T) {
	o := another.Start(t, stuckVariable+"=yes")
	tell(t, o, "listening", os.Interrupt)
	tell(t, o, "told", os.Interrupt)
	err := o.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		t.Fatalf("it ended with %v", err)
	}
	// Who waits too long for it kills it.
	if status, ok := exit.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGINT {
		t.Errorf("it ended with %v, want the second signal", exit)
	}
}
