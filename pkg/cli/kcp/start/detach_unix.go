//go:build unix

package start

import (
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// ofItsOwn makes a process survive the terminal of the one that starts it.
func ofItsOwn() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// keepDescriptors makes this process keep for itself what it was given by the one that has
// started it: a pipe, or a file that is locked, would be open for as long as the server
// runs.
func keepDescriptors() error {
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if descriptor, err := strconv.Atoi(entry.Name()); err == nil && descriptor > int(os.Stderr.Fd()) {
			unix.CloseOnExec(descriptor)
		}
	}
	return nil
}

// letGo has this process write to the log what would go to its streams.
func letGo(log *os.File) error {
	nothing, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer func() { _ = nothing.Close() }()
	// The error stream first: whoever waits for the other one has then heard everything.
	if err := duplicate(log, os.Stderr); err != nil {
		return err
	}
	return duplicate(nothing, os.Stdout)
}

// terminate asks a process to end in order.
func terminate(process *os.Process) error { return process.Signal(syscall.SIGTERM) }
