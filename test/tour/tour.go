// Package tour runs documents: the commands in their console blocks, one after the other, in
// one shell, as a reader would, and compares what they print with what the document says.
package tour

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/forkless/kcp/internal/servertest/address"
	"github.com/forkless/kcp/test/programs"
)

// ellipsis stands, in a document, for text that differs from run to run; alone on a
// line, for any number of lines.
const ellipsis = "…"

// step is a command of the tour and what the document says it prints.
type step struct {
	line    int // in the document, counted from 1
	command string
	want    []string
}

// Run runs the console blocks of a document as they are printed, in a folder of their own,
// against the server that `kcp start` starts there. The programs of this repository and
// those in the folders of path can be called; links are names in that folder for files
// elsewhere. It fails where something else is printed than the document says.
func Run(t *testing.T, document string, path []string, links map[string]string) {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("the tour needs bash, which is not installed")
	}
	steps := parse(read(t, document))
	if len(steps) < 10 {
		t.Fatalf("found %d commands in %s: its console blocks are not read as they should be", len(steps), document)
	}

	dir := t.TempDir()
	for name, target := range links {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	path = append([]string{programs.Directory(t)}, append(path, os.Getenv("PATH"))...)
	env := append(os.Environ(), "HOME="+dir, "KUBECONFIG=", "PATH="+strings.Join(path, string(os.PathListSeparator)))
	logFile := startServer(t, dir, env)

	got := runSteps(t, dir, env, steps)
	for i, s := range steps {
		if !matches(s.want, got[i]) {
			t.Errorf("%s:%d: $ %s\nwant:\n%s\ngot:\n%s", document, s.line, s.command, strings.Join(s.want, "\n"), strings.Join(got[i], "\n"))
		}
	}
	if t.Failed() {
		t.Logf("the server's output:\n%s", read(t, logFile))
	}
}

// parse returns the commands in the console blocks of a document.
func parse(document string) []step {
	var steps []step
	inside := false
	for i, line := range strings.Split(document, "\n") {
		switch {
		case !inside:
			inside = line == "```console"
		case line == "```":
			inside = false
		case strings.HasPrefix(line, "$ "):
			steps = append(steps, step{line: i + 1, command: line[2:]})
		case len(steps) == 0:
			// Output before the first command belongs to nothing.
		case strings.HasPrefix(line, "> "):
			steps[len(steps)-1].command += "\n" + line[2:]
		default:
			steps[len(steps)-1].want = append(steps[len(steps)-1].want, line)
		}
	}
	return steps
}

// startServer starts `kcp start` in dir, waits until it is ready, and returns the file
// that its output goes to.
func startServer(t *testing.T, dir string, env []string) (logFile string) {
	t.Helper()
	program, err := lookPath("kcp", env)
	if err != nil {
		t.Fatal(err)
	}
	output, err := os.Create(filepath.Join(dir, "output.log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = output.Close() })
	server := exec.CommandContext(t.Context(), program, "start", "--bind-address=127.0.0.1", "--secure-port="+address.FreePort(t))
	server.Dir, server.Env = dir, env
	server.Stdout, server.Stderr = output, output
	server.Cancel = func() error { return server.Process.Signal(os.Interrupt) }
	server.WaitDelay = 30 * time.Second
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan struct{})
	go func() {
		// How it ends is its own tests' business; here it only has to end.
		_ = server.Wait()
		close(exited)
	}()
	t.Cleanup(func() { <-exited })

	waitUntilReady(t, dir, env, exited, output.Name())
	return output.Name()
}

func waitUntilReady(t *testing.T, dir string, env []string, exited <-chan struct{}, logFile string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		probe := exec.CommandContext(ctx, "kubectl", "--kubeconfig="+filepath.Join(dir, ".kcp", "admin.kubeconfig"), "get", "--raw=/readyz")
		probe.Env = env
		last, err := probe.CombinedOutput()
		if err == nil {
			return
		}
		select {
		case <-exited:
			t.Fatalf("kcp start ended:\n%s", read(t, logFile))
		case <-ctx.Done():
			t.Fatalf("not ready after a minute; kubectl said last: %s\nand the server:\n%s", last, read(t, logFile))
		case <-ticker.C:
		}
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// runSteps runs all steps in one shell, as a reader would, and returns the lines that
// each printed.
func runSteps(t *testing.T, dir string, env []string, steps []step) [][]string {
	t.Helper()
	const marker = "--- end of step ---"
	script := &strings.Builder{}
	for _, s := range steps {
		fmt.Fprintf(script, "%s\necho; echo '%s'\n", s.command, marker)
	}
	file := filepath.Join(dir, "tour.sh")
	if err := os.WriteFile(file, []byte(script.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	shell := exec.CommandContext(ctx, "bash", file)
	shell.Dir, shell.Env = dir, env
	out, err := shell.CombinedOutput()
	parts := strings.Split(string(out), "\n"+marker+"\n")
	if len(parts) != len(steps)+1 {
		t.Fatalf("the tour ended early (%v):\n%s", err, out)
	}
	got := make([][]string, len(steps))
	for i := range steps {
		if text := strings.TrimSuffix(parts[i], "\n"); text != "" {
			got[i] = strings.Split(text, "\n")
		}
	}
	return got
}

// matches says whether lines are what the document shows. Runs of spaces, which align
// columns, may have another length; blank lines at the end do not count.
func matches(want, lines []string) bool {
	want, lines = trimmed(want), trimmed(lines)
	switch {
	case len(want) == 0:
		return len(lines) == 0
	case want[0] == ellipsis:
		return matches(want[1:], lines) || len(lines) > 0 && matches(want, lines[1:])
	case len(lines) == 0:
		return false
	default:
		return matchesLine(want[0], lines[0]) && matches(want[1:], lines[1:])
	}
}

var spaces = regexp.MustCompile(`\s+`)

func matchesLine(want, line string) bool {
	pattern := regexp.QuoteMeta(spaces.ReplaceAllString(strings.TrimSpace(want), " "))
	pattern = strings.ReplaceAll(pattern, ellipsis, ".*")
	matched, err := regexp.MatchString("^"+pattern+"$", spaces.ReplaceAllString(strings.TrimSpace(line), " "))
	return err == nil && matched
}

func trimmed(lines []string) []string {
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// lookPath is exec.LookPath with the PATH of env.
func lookPath(program string, env []string) (string, error) {
	var path string
	for _, variable := range env {
		if value, ok := strings.CutPrefix(variable, "PATH="); ok {
			path = value
		}
	}
	for _, dir := range filepath.SplitList(path) {
		if found, err := exec.LookPath(filepath.Join(dir, program)); err == nil {
			return found, nil
		}
	}
	return "", fmt.Errorf("no %s in %s", program, path)
}
