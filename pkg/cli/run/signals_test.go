//go:build unix

package run

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"time"
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

// other is another process that is this program.
type other struct {
	*exec.Cmd
	lines *bufio.Reader
}

// start starts one, which stops when it is told to if obstinate is "no".
func start(t *testing.T, obstinate string) other {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), stuckVariable+"="+obstinate)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return other{Cmd: cmd, lines: bufio.NewReader(out)}
}

// tell sends it a signal once it has said a line.
func (o other) tell(t *testing.T, line string, s os.Signal) {
	t.Helper()
	if got, err := o.lines.ReadString('\n'); got != line {
		t.Fatalf("it says %q, %v; want %q", got, err, line)
	}
	if err := o.Process.Signal(s); err != nil {
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
		o := start(t, "no")
		o.tell(t, "listening\n", s)
		_ = o.Wait()
		if got := o.ProcessState.ExitCode(); got != want {
			t.Errorf("after %v it ended with %d, want %d", s, got, want)
		}
	}
}

// TestSecondSignal: a program that does not stop when it is told to is ended by who tells
// it a second time.
func TestSecondSignal(t *testing.T) {
	o := start(t, "yes")
	o.tell(t, "listening\n", os.Interrupt)
	o.tell(t, "told\n", os.Interrupt)
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
