package self

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// attributes are those of a process without a console.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP}
}
