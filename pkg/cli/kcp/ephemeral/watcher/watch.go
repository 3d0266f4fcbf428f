package watcher

import (
	"bufio"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/forkless/kcp/internal/archive/place"
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
	told := listen(in)
	if told.group > 0 {
		killGroup(told.group)
	}
	for deadline := time.Now().Add(closing); time.Now().Before(deadline); time.Sleep(pollInterval) {
		// Both in any case: what can go goes.
		gone := rootdir.SweepScratchOf(pid)
		if told.writing != "" {
			gone = place.Sweep(told.writing) && gone
		}
		if gone {
			return 0
		}
	}
	return 1
}

// told is what a process has told its watcher.
type told struct {
	// group is the process group that ends with it, none if it is not positive.
	group int
	// writing is the place of a file, empty without one.
	writing string
}

// listen returns what was told last when in has ended.
func listen(in io.Reader) told {
	var t told
	for lines := bufio.NewScanner(in); lines.Scan(); {
		word, value, _ := strings.Cut(lines.Text(), " ")
		switch word {
		case wordGroup:
			if number, err := strconv.Atoi(value); err == nil {
				t.group = number
			}
		case wordWriting:
			if text, err := strconv.Unquote(value); err == nil {
				t.writing = text
			}
		}
	}
	return t
}
