//go:build unix

package run

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
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

// TestFirstSignal: a program can clear away what it has made, and its exit code says why it
// has ended.
func TestFirstSignal(t *testing.T) {
	for s, want := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143, syscall.SIGHUP: 129} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		other := exec.CommandContext(ctx, os.Args[0])
		other.Env = append(os.Environ(), stuckVariable+"=no")
		out, err := other.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := other.Start(); err != nil {
			t.Fatal(err)
		}
		if got, err := bufio.NewReader(out).ReadString('\n'); got != "listening\n" {
			t.Fatalf("it says %q, %v", got, err)
		}
		if err := other.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
		_ = other.Wait()
		if got := other.ProcessState.ExitCode(); got != want {
			t.Errorf("after %v it ended with %d, want %d", s, got, want)
		}
	}
}

// TestSecondSignal: a program that does not stop when it is told to is ended by who tells
// it a second time.
func TestSecondSignal(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	other := exec.CommandContext(ctx, os.Args[0])
	other.Env = append(os.Environ(), stuckVariable+"=yes")
	out, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	for _, want := range []string{"listening\n", "told\n"} {
		if got, err := lines.ReadString('\n'); got != want {
			t.Fatalf("it says %q, %v; want %q", got, err, want)
		}
		if err := other.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
	}
	err = other.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || ctx.Err() != nil {
		t.Fatalf("it ended with %v", err)
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGINT {
		t.Errorf("it ended with %v, want the second signal", exit)
	}
}
