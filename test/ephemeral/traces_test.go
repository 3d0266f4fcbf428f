//go:build linux

package ephemeral

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	// patience is how long a test waits for what takes milliseconds on a machine with nothing
	// else to do.
	patience = 90 * time.Second
	pause    = 5 * time.Millisecond
	// markName is the variable by which the processes of a run are found.
	markName = "KCP_TEST_MARK"
	memory   = "/dev/shm"
)

// trail finds what there is of runs: processes, files among the temporary ones, and data in
// memory.
type trail struct {
	// mark is in the environment of all processes but watchers.
	mark string
	// temporary is the folder for temporary files.
	temporary string
	// pids are the processes that have run. Watchers say which one they watch, and so do
	// locks.
	pids []int
}

func newTrail(t *testing.T) *trail {
	t.Helper()
	return &trail{mark: fmt.Sprintf("%s-%d-%d", t.Name(), os.Getpid(), time.Now().UnixNano()), temporary: t.TempDir()}
}

// env returns the environment of a run.
func (tr *trail) env() []string {
	without := slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "KUBECONFIG=") || strings.HasPrefix(v, "ARTIFACT_DIR=")
	})
	return append(without, markName+"="+tr.mark, "TMPDIR="+tr.temporary)
}

// left returns what there is now.
func (tr *trail) left() (all []string) {
	for _, pid := range processes() {
		switch name := fmt.Sprintf("process %d", pid); {
		case isDefunct(pid):
		case bytes.Contains(read("/proc/%d/environ", pid), []byte(markName+"="+tr.mark+"\x00")):
			all = append(all, name+": "+command(pid))
		case tr.watches(pid):
			all = append(all, name+", a watcher")
		}
	}
	for _, pattern := range []string{tr.temporary + "/kcp-run-*", memory + "/kcp-memory-*.lock"} {
		files, _ := filepath.Glob(pattern)
		for _, file := range files {
			owner, _ := strconv.Atoi(string(read("%s", file)))
			if strings.HasPrefix(file, tr.temporary) || slices.Contains(tr.pids, owner) {
				all = append(all, file)
			}
		}
	}
	return all
}

// watches says whether a process is a watcher of one of the runs.
func (tr *trail) watches(pid int) bool {
	words := strings.Fields(command(pid))
	if len(words) != 3 || words[1] != "__watch" {
		return false
	}
	watched, err := strconv.Atoi(words[2])
	return err == nil && slices.Contains(tr.pids, watched)
}

// owners adds the processes that have made temporary directories by now.
func (tr *trail) owners() {
	locks, _ := filepath.Glob(tr.temporary + "/kcp-run-*.lock")
	for _, lock := range locks {
		if pid, err := strconv.Atoi(string(read("%s", lock))); err == nil && !slices.Contains(tr.pids, pid) {
			tr.pids = append(tr.pids, pid)
		}
	}
}

// gone waits until nothing is left, and returns how long that took.
func (tr *trail) gone(t *testing.T) time.Duration {
	t.Helper()
	began := time.Now()
	for {
		left := tr.left()
		if len(left) == 0 {
			return time.Since(began)
		}
		if time.Since(began) > patience {
			t.Fatalf("after %s there is still:\n%s", patience, strings.Join(left, "\n"))
		}
		time.Sleep(pause)
	}
}

func processes() (pids []int) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// isDefunct says whether a process has ended and nobody has asked for its exit code.
func isDefunct(pid int) bool {
	_, state, _ := strings.Cut(string(read("/proc/%d/stat", pid)), ") ")
	return strings.HasPrefix(state, "Z")
}

func command(pid int) string {
	return string(bytes.ReplaceAll(read("/proc/%d/cmdline", pid), []byte{0}, []byte(" ")))
}

// read returns the content of a file, nothing if it is not there.
func read(format string, args ...any) []byte {
	content, _ := os.ReadFile(fmt.Sprintf(format, args...))
	return content
}
