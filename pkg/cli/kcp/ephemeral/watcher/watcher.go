package watcher

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/forkless/kcp/pkg/cli/kcp/ephemeral/self"
)

// Verb is the argument that makes the program a watcher. Nobody types it.
const Verb = "__watch"

const (
	// wordGroup names a process group that is to end with the process.
	wordGroup = "group"
	// wordWriting names, as Go quotes it, the place of a file that the process writes.
	wordWriting = "writing"
)

// kept are the variables that the watcher keeps: those by which directories are found.
var kept = []string{"TMPDIR", "TMP", "TEMP", "SystemRoot", "LOCALAPPDATA"}

// Watcher is the process that watches this one.
type Watcher struct {
	cmd  *exec.Cmd
	pipe *os.File
}

// Start starts a watcher of this process.
func Start() (*Watcher, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer func() { _ = read.Close() }()
	cmd, err := self.Command(Verb, strconv.Itoa(os.Getpid()))
	if err != nil {
		return nil, errors.Join(err, write.Close())
	}
	cmd.Dir = outOfTheWay
	cmd.Stdin = read
	cmd.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return !slices.Contains(kept, name)
	})
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("starting a watcher: %w", err), write.Close())
	}
	yield(cmd.Process.Pid)
	return &Watcher{cmd: cmd, pipe: write}, nil
}

// Group names a process group that is to end with this process; 0 none any more.
func (w *Watcher) Group(group int) {
	// If there is no watcher any more, somebody has ended it who knows what he does.
	_, _ = fmt.Fprintf(w.pipe, "%s %d\n", wordGroup, group)
}

// Writing names a file that this process is about to replace by package place. What is not
// complete is to go with the process.
func (w *Watcher) Writing(place string) {
	_, _ = fmt.Fprintf(w.pipe, "%s %q\n", wordWriting, place)
}

// Release ends the watcher: there is nothing left to clean up.
func (w *Watcher) Release() {
	_ = w.cmd.Process.Kill()
	_ = w.cmd.Wait()
	_ = w.pipe.Close()
}
