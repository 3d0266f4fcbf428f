package start

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

// ofItsOwn makes a process survive the console of the one that starts it.
func ofItsOwn() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP}
}

// keepDescriptors has nothing to do: a process inherits what it is given and no more.
func keepDescriptors() error { return nil }

// letGo has this process write to the log what would go to its streams.
func letGo(log *os.File) error {
	nothing, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	errOut, out := os.Stderr, os.Stdout
	os.Stderr, os.Stdout = log, nothing
	return errors.Join(
		windows.SetStdHandle(windows.STD_ERROR_HANDLE, windows.Handle(log.Fd())),
		windows.SetStdHandle(windows.STD_OUTPUT_HANDLE, windows.Handle(nothing.Fd())),
		errOut.Close(), out.Close())
}

// terminate ends a process. Windows has no way to ask it to.
func terminate(process *os.Process) error { return process.Kill() }
