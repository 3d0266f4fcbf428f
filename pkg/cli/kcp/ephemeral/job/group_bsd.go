//go:build unix && !linux

package job

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes are those of a program.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

// stopOwnGroup stops this process and those that it shares its group with, as ctrl-z does,
// and returns when it goes on. Where nobody could make it go on, the system does not stop it.
func stopOwnGroup() { _ = unix.Kill(0, unix.SIGTSTP) }
