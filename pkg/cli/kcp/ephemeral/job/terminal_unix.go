//go:build unix

package job

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// terminal is the one that this process is controlled from.
type terminal struct {
	file *os.File
	// own is the process group of this process.
	own int
}

// openTerminal returns nil if there is none.
func openTerminal() *terminal {
	file, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil
	}
	return &terminal{file: file, own: unix.Getpgrp()}
}

func (t *terminal) close() error {
	if t == nil {
		return nil
	}
	return t.file.Close()
}

func (t *terminal) descriptor() int { return int(t.file.Fd()) }

// foreground returns the process group that reads what is typed, 0 if there is none.
func (t *terminal) foreground() int {
	group, err := unix.IoctlGetInt(t.descriptor(), unix.TIOCGPGRP)
	if err != nil {
		return 0
	}
	return group
}

// isOurs says whether this process is in the foreground.
func (t *terminal) isOurs() bool { return t.foreground() == t.own }

// give puts a process group into the foreground. Whoever is in the background and does that
// would be stopped, unless he ignores it.
func (t *terminal) give(group int) {
	signal.Ignore(syscall.SIGTTOU)
	defer signal.Reset(syscall.SIGTTOU)
	// Without success it is as if nobody had a terminal.
	_ = unix.IoctlSetPointerInt(t.descriptor(), unix.TIOCSPGRP, group)
}

// allTerminals says whether all of these are terminals: then no other program of a pipeline
// wants it too.
func allTerminals(streams ...any) bool {
	for _, s := range streams {
		file, ok := s.(*os.File)
		if !ok || !term.IsTerminal(int(file.Fd())) {
			return false
		}
	}
	return true
}
