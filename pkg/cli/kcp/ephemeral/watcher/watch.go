package watcher

import (
	"bufio"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/forkless/kcp/internal/rootdir"
)

const (
	// closing is how long the system may take to close the files of a process that is gone.
	closing = 10 * time.Second
	// pollInterval is how often it is looked whether it has.
	pollInterval = 10 * time.Millisecond
)

// Main is the watcher: it reads what it is told until the process that args name is gone,
// and cleans up. It returns the exit code.
func Main(args []string, in io.Reader) int {
	if len(args) != 1 {
		return 1
	}
	pid, err := strconv.Atoi(args[0])
	if err != nil {
		return 1
	}
	ignoreSignals()
	if group := listen(in); group > 0 {
		killGroup(group)
	}
	for deadline := time.Now().Add(closing); time.Now().Before(deadline); time.Sleep(pollInterval) {
		if rootdir.SweepScratchOf(pid) {
			return 0
		}
	}
	return 1
}

// listen returns the process group that was named last when in has ended.
func listen(in io.Reader) (group int) {
	for lines := bufio.NewScanner(in); lines.Scan(); {
		word, value, _ := strings.Cut(lines.Text(), " ")
		if number, err := strconv.Atoi(value); word == wordGroup && err == nil {
			group = number
		}
	}
	return group
}
