//go:build unix && !linux

package job

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes are those of a program.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

// stopSelf stops this process and returns when it goes on.
func stopSelf(s unix.Signal) { _ = unix.Kill(unix.Getpid(), s) }
