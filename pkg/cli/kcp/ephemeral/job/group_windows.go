package job

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// passedOn are the signals that do not end this process while the program runs.
var passedOn = []os.Signal{os.Interrupt, syscall.SIGTERM}

// process is a job object. The system ends everything in it when its last handle is closed,
// which that of this process is.
type process struct {
	job     windows.Handle
	program *os.Process
}

func (p *process) start(cmd *exec.Cmd, _ func(int), _ <-chan struct{}) (err error) {
	if p.job, err = windows.CreateJobObject(nil, nil); err != nil {
		return err
	}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	if _, err = windows.SetInformationJobObject(p.job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits))); err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return errors.Join(err, windows.CloseHandle(p.job))
	}
	p.program = cmd.Process
	handle, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(cmd.Process.Pid))
	if err == nil {
		err = errors.Join(windows.AssignProcessToJobObject(p.job, handle), windows.CloseHandle(handle))
	}
	if err != nil {
		return errors.Join(err, cmd.Process.Kill(), cmd.Wait(), windows.CloseHandle(p.job))
	}
	return nil
}

// signal passes on what is no ctrl-c, which everything on the console gets.
func (p *process) signal(s os.Signal) {
	if s != os.Interrupt {
		p.kill()
	}
}

func (p *process) kill() { _ = windows.TerminateJobObject(p.job, 1) }

func (p *process) wait(cmd *exec.Cmd, _ chan<- os.Signal) int {
	// The code says it all.
	_ = cmd.Wait()
	return cmd.ProcessState.ExitCode()
}

// clear ends what is left in the group when the program has ended.
func (p *process) clear(time.Duration) { _ = windows.CloseHandle(p.job) }
