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

// stuckVariable makes this test binary a program that is told to stop and does not.
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
	time.Sleep(time.Hour)
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
