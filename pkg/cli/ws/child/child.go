// Package child runs programs that work in a workspace, each with a kubeconfig of its own
// that is gone when they are done.
//
// A kubeconfig holds credentials, so whoever writes one listens first: from Listen to
// Close no signal ends the process. It is passed on to the programs that run, which end,
// and then the process ends in its usual way. At a terminal ctrl-c reaches the programs
// without our help.
package child

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/forkless/kcp/pkg/cli/run"
)

// grace is how long a program may take to end after it was told to.
const grace = 5 * time.Second

// Keeper runs programs and passes signals on to them.
type Keeper struct {
	// Hangup tells programs to end as a terminal does that is closed. Shells at a terminal
	// take no notice of anything else.
	Hangup bool
	// Attached says that the programs are at the terminal, which sends ctrl-c itself.
	Attached bool

	received chan os.Signal
	done     chan struct{}

	mu      sync.Mutex
	signal  os.Signal
	running []*os.Process
}

// Listen returns a Keeper that listens to signals until it is closed.
func Listen() *Keeper {
	k := &Keeper{received: make(chan os.Signal, 4), done: make(chan struct{})}
	signal.Notify(k.received, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go k.pass()
	return k
}

// Close ends listening.
func (k *Keeper) Close() {
	signal.Stop(k.received)
	close(k.done)
}

// Signal returns the last signal to end, nil if there was none.
func (k *Keeper) Signal() os.Signal {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.signal
}

// pass passes signals on.
func (k *Keeper) pass() {
	for {
		select {
		case <-k.done:
			return
		case s := <-k.received:
			k.tell(s)
		}
	}
}

func (k *Keeper) tell(s os.Signal) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if s == os.Interrupt && k.Attached {
		if !k.Hangup {
			// A shell goes on after ctrl-c, other programs end.
			k.signal = s
		}
		return
	}
	k.signal = s
	if k.Hangup {
		s = syscall.SIGHUP
	}
	for _, p := range k.running {
		end(p, s)
	}
}

// end tells p to end, and ends it if it does not. It need not be there any more.
func end(p *os.Process, s os.Signal) {
	if err := p.Signal(s); err != nil {
		// Not every system has signals.
		_ = p.Kill()
		return
	}
	time.AfterFunc(grace, func() { _ = p.Kill() })
}

// Run runs a program and returns its exit code, as a shell would. The error says why it
// could not be run.
func (k *Keeper) Run(cmd *exec.Cmd) (code int, err error) {
	k.mu.Lock()
	if err := cmd.Start(); err != nil {
		k.mu.Unlock()
		refused := run.NotStarted(cmd.Args[0], err)
		return run.CodeOf(refused), refused
	}
	k.running = append(k.running, cmd.Process)
	if k.signal != nil {
		end(cmd.Process, k.signal)
	}
	k.mu.Unlock()

	err = cmd.Wait()
	k.mu.Lock()
	k.running = slices.DeleteFunc(k.running, func(p *os.Process) bool { return p == cmd.Process })
	k.mu.Unlock()
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		return 1, fmt.Errorf("running %s: %w", cmd.Args[0], err)
	}
	return codeOf(cmd.ProcessState), nil
}

// codeOf returns the exit code of a program that has ended.
func codeOf(state *os.ProcessState) int {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return run.SignalCode(status.Signal())
	}
	return state.ExitCode()
}
