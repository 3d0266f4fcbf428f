//go:build unix

package watcher

import (
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	// outOfTheWay is a folder that nobody wants to remove.
	outOfTheWay = "/"
	// niceness leaves the processor to others: what watches has nothing to do for now.
	niceness = 10
)

// yield makes a process wait for others.
func yield(pid int) { _ = unix.Setpriority(unix.PRIO_PROCESS, pid, niceness) }

// ignoreSignals makes this process one that ends by itself only.
func ignoreSignals() { signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP) }

func killGroup(group int) { _ = unix.Kill(-group, unix.SIGKILL) }
