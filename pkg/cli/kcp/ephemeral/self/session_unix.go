//go:build unix

package self

import "syscall"

// attributes are those of a process with a session of its own.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
