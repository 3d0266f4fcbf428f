package job

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes are those of a program that the system ends together with the thread that has
// started it. Until the watcher knows of the program, that is what ends it.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// stopOwnGroup stops this process and those that it shares its group with, as ctrl-z does,
// and returns when it goes on. Where nobody could make it go on, the system does not stop it.
func stopOwnGroup() {
	_ = unix.Kill(0, unix.SIGTSTP)
	// The first one may reach another thread, and this one get on for a while. The second
	// one is gone, if it is still there, when the process goes on.
	_ = unix.Tgkill(unix.Getpid(), unix.Gettid(), unix.SIGTSTP)
}
