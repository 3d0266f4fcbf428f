package job

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// stopSelf stops this process and returns when it goes on.
func stopSelf(s unix.Signal) {
	// To this thread, so that it does not get on for a while before another one has stopped
	// the process.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	_ = unix.Tgkill(unix.Getpid(), unix.Gettid(), s)
}
