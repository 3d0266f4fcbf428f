package job

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes are those of a program that the system ends together with the thread that has
// started it. Until the watcher knows of the program, that is what ends it.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// stopSelf stops this process and returns when it goes on.
func stopSelf(s unix.Signal) {
	// To this thread, so that it does not get on for a while before another one has stopped
	// the process.
	_ = unix.Tgkill(unix.Getpid(), unix.Gettid(), s)
}
