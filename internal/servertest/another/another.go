// Package another runs a test program once more, as another process: for what happens
// between processes, and to those that are told to end or are killed.
package another

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// patience is how long such a process may live.
const patience = time.Minute

// Process is one that runs. It is killed when its test has ended, if it is still there.
type Process struct {
	*exec.Cmd

	lines *bufio.Reader
}

// Start starts this program with one more variable in its environment, NAME=value, by which
// its TestMain knows what to do instead of running tests. Its standard input stays open for
// as long as somebody waits for it.
func Start(t *testing.T, variable string) *Process {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, os.Args[0]) //nolint:gosec // because it is this program
	cmd.Env = append(os.Environ(), variable)
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Wait() })
	return &Process{Cmd: cmd, lines: bufio.NewReader(out)}
}

// Line returns the next line that the process writes, without its end.
func (p *Process) Line(t *testing.T) string {
	t.Helper()
	line, err := p.lines.ReadString('\n')
	if err != nil {
		t.Fatalf("the other process says %q: %v", line, err)
	}
	return strings.TrimSuffix(line, "\n")
}

// Kill kills the process and returns when it is gone.
func (p *Process) Kill(t *testing.T) {
	t.Helper()
	if err := p.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = p.Wait()
}
