package watcher

import (
	"os/signal"
	"syscall"
)

// outOfTheWay is where it is: a folder in which somebody works cannot be removed.
const outOfTheWay = `\`

// yield makes a process wait for others; the little that it does is not worth it.
func yield(int) {}

// ignoreSignals makes this process one that ends by itself only.
func ignoreSignals() { signal.Ignore(syscall.SIGINT, syscall.SIGTERM) }

// killGroup has nothing to do: a job object ends with the process that has made it.
func killGroup(int) {}
