package job

import (
	"os/exec"
	"runtime"
	"syscall"

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

// startTied starts a program that the system kills when this process is, should nobody be
// there any more to kill its group. over is closed when it has ended. To the system it is
// a thread that has started it, and that thread has to be there as long.
func startTied(cmd *exec.Cmd, over <-chan struct{}) error {
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			<-over
		}
	}()
	return <-started
}
