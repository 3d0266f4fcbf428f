//go:build unix && !linux

package job

import (
	"os/exec"

	"golang.org/x/sys/unix"
)

// stopSelf stops this process and returns when it goes on.
func stopSelf(s unix.Signal) { _ = unix.Kill(unix.Getpid(), s) }

// startTied starts a program. The system has nothing that would end it with this process.
func startTied(cmd *exec.Cmd, _ <-chan struct{}) error { return cmd.Start() }
