package job

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
)

// lastWords is how long what a program has left behind may take to end.
const lastWords = 500 * time.Millisecond

// Job is a program that runs.
type Job struct {
	process
	received chan os.Signal
	// passed is closed when no signals are passed on any more.
	passed chan struct{}
	done   chan struct{}
	code   int
}

// Start runs a program, and passes on to it the signals that this process gets until Wait
// has returned. group is called with the number of the process group before the program is
// in it, for somebody who is to end it should this process be killed. The error has an exit
// code as Find's has.
func Start(cmd *exec.Cmd, group func(int)) (*Job, error) {
	j := &Job{received: make(chan os.Signal, 8), passed: make(chan struct{}), done: make(chan struct{})}
	// From now on no signal ends this process before the program has ended. What nobody is
	// to notice, as with nohup, is not for the program either.
	for _, s := range passedOn {
		if !signal.Ignored(s) {
			signal.Notify(j.received, s)
		}
	}
	if err := j.process.start(cmd, group, j.done); err != nil {
		signal.Stop(j.received)
		close(j.passed)
		return nil, notStarted(cmd, err)
	}
	go func() {
		defer close(j.done)
		j.code = j.process.wait(cmd, j.received)
	}()
	go j.pass()
	return j, nil
}

// pass passes signals on.
func (j *Job) pass() {
	for {
		select {
		case <-j.passed:
			return
		case s := <-j.received:
			j.process.signal(s)
		}
	}
}

// Done is closed when the program has ended.
func (j *Job) Done() <-chan struct{} { return j.done }

// End tells everything in the group to end, and ends it if it has not after the grace.
func (j *Job) End(grace time.Duration) {
	j.process.signal(syscall.SIGTERM)
	select {
	case <-j.done:
	case <-time.After(grace):
		j.process.kill()
		<-j.done
	}
}

// Wait returns the exit code of the program when it has ended, and what it has left behind
// too. Then it is over, and signals do with this process what they did before.
func (j *Job) Wait() (code int) {
	<-j.done
	j.process.clear(lastWords)
	signal.Stop(j.received)
	close(j.passed)
	return j.code
}
