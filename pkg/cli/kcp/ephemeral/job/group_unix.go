//go:build unix

package job

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"github.com/forkless/kcp/pkg/cli/kcp/ephemeral/self"
	"github.com/forkless/kcp/pkg/cli/run"
)

// passedOn are the signals that are for the program. SIGTSTP comes from a terminal whose
// foreground this process is in, and comes back as the news that the program has stopped.
var passedOn = []os.Signal{
	syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT,
	syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGWINCH, syscall.SIGTSTP,
}

// pollInterval is how often it is looked whether a group is empty, of which the system does
// not tell.
const pollInterval = 5 * time.Millisecond

// process is a process group, which has a number before the program is in it.
type process struct {
	group int
	// first is the process that has given the group its number. It has ended at once, and the
	// number is taken for as long as nobody has asked for its exit code.
	first *exec.Cmd
	// terminal is nil without one.
	terminal *terminal
	// modes are those that the terminal had, nil if the program did not get it at once.
	modes *term.State
}

func (p *process) start(cmd *exec.Cmd, group func(int), over <-chan struct{}) (err error) {
	if err := p.number(); err != nil {
		return fmt.Errorf("making a process group: %w", err)
	}
	group(p.group)
	p.terminal = openTerminal()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: p.group}
	if p.terminal != nil && p.terminal.isOurs() && allTerminals(cmd.Stdin, cmd.Stdout, cmd.Stderr) {
		cmd.SysProcAttr.Foreground = true
		cmd.SysProcAttr.Ctty = p.terminal.descriptor()
		p.modes, _ = term.GetState(p.terminal.descriptor())
	}
	if err := startTied(cmd, over); err != nil {
		_ = p.first.Wait()
		group(0)
		return errors.Join(err, p.terminal.close())
	}
	return nil
}

// number makes a process group with nobody in it.
func (p *process) number() (err error) {
	if p.first, err = self.Idle(); err != nil {
		return err
	}
	p.first.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.first.Start(); err != nil {
		return err
	}
	p.group = p.first.Process.Pid
	return nil
}

func (p *process) signal(s os.Signal) {
	if number, ok := s.(syscall.Signal); ok {
		// It need not be there any more.
		_ = unix.Kill(-p.group, number)
	}
	if s == syscall.SIGTERM || s == syscall.SIGHUP {
		// What is stopped would not hear of it.
		_ = unix.Kill(-p.group, unix.SIGCONT)
	}
}

func (p *process) kill() { _ = unix.Kill(-p.group, unix.SIGKILL) }

// wait returns the exit code when the program has ended, and sees to it meanwhile that ctrl-z
// does what it should. received gets the signals of this process.
func (p *process) wait(cmd *exec.Cmd, received chan<- os.Signal) int {
	var status unix.WaitStatus
	for {
		_, err := unix.Wait4(cmd.Process.Pid, &status, unix.WUNTRACED, nil)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return 1
		case status.Stopped():
			p.stopped(status.StopSignal(), received)
			continue
		}
		break
	}
	// What is left is to wait for what copies its streams; that the process is gone is
	// known already.
	_ = cmd.Wait()
	p.retake(status.Signaled())
	_ = p.first.Wait()
	if status.Signaled() {
		return run.SignalCode(status.Signal())
	}
	return status.ExitStatus()
}

// stopped is told that the program has stopped.
func (p *process) stopped(s unix.Signal, received chan<- os.Signal) {
	if p.terminal == nil || s != unix.SIGTSTP && s != unix.SIGTTIN && s != unix.SIGTTOU {
		return
	}
	if s == unix.SIGTSTP || !p.terminal.isOurs() {
		// It was somebody at the terminal, or the whole job is in the background.
		if p.terminal.foreground() == p.group {
			p.terminal.give(p.terminal.own)
		}
		stopOwnGroup(received)
	}
	if p.terminal.isOurs() {
		p.terminal.give(p.group)
	}
	_ = unix.Kill(-p.group, unix.SIGCONT)
}

// stopOwnGroup stops this process and those that it shares its group with, as ctrl-z does,
// and returns when it goes on. received gets the signals of this process.
func stopOwnGroup(received chan<- os.Signal) {
	signal.Reset(syscall.SIGTSTP)
	_ = unix.Kill(0, unix.SIGTSTP)
	// Go goes on catching a signal once it has, so this process stops by another one. Where
	// nobody could make it go on, the system ignores that, as it does the first one.
	stopSelf(unix.SIGTTIN)
	signal.Notify(received, syscall.SIGTSTP)
}

// retake takes the terminal back. A program that was killed may have left it in a state in
// which nothing can be read.
func (p *process) retake(killed bool) {
	if p.terminal == nil {
		return
	}
	if p.terminal.foreground() == p.group {
		p.terminal.give(p.terminal.own)
		if killed && p.modes != nil {
			_ = term.Restore(p.terminal.descriptor(), p.modes)
		}
	}
	_ = p.terminal.close()
}

// clear ends what is left in the group when the program has ended.
func (p *process) clear(grace time.Duration) {
	if p.isEmpty() {
		return
	}
	p.signal(syscall.SIGTERM)
	for deadline := time.Now().Add(grace); time.Now().Before(deadline); time.Sleep(pollInterval) {
		if p.isEmpty() {
			return
		}
	}
	p.kill()
}

func (p *process) isEmpty() bool { return errors.Is(unix.Kill(-p.group, 0), unix.ESRCH) }
