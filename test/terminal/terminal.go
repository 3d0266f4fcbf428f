package terminal

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/forkless/kcp/internal/servertest"
)

// Program is a program that runs in a terminal.
type Program struct {
	t   testing.TB
	cmd *exec.Cmd
	tty *os.File

	mu     sync.Mutex
	screen *Screen
	raw    bytes.Buffer
	// first is when anything was drawn on the alternate screen.
	first time.Time

	done chan struct{}
	err  error
}

// Start runs cmd in a terminal of some size until the test ends. Of the environment of the
// test the program sees only what cmd says.
func Start(t testing.TB, cmd *exec.Cmd, width, height int) *Program {
	t.Helper()
	// The later of two wins: a command may have another locale, or no colors.
	cmd.Env = append([]string{"TERM=xterm-256color", "LC_ALL=C.UTF-8"}, cmd.Env...)
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: uint16(width), Rows: uint16(height)})
	if err != nil {
		t.Fatal(err)
	}
	p := &Program{t: t, cmd: cmd, tty: tty, screen: NewScreen(width, height), done: make(chan struct{})}
	read := make(chan struct{})
	go func() {
		defer close(read)
		p.read()
	}()
	go func() {
		defer close(p.done)
		p.err = cmd.Wait()
		// What it wrote last is on its way yet. The other end is closed then, which ends
		// the reading, unless a child has it open.
		select {
		case <-read:
		case <-time.After(servertest.Patience):
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = tty.Close()
		<-p.done
	})
	return p
}

// read draws what the program writes.
func (p *Program) read() {
	buffer := make([]byte, 32*1024)
	for {
		n, err := p.tty.Read(buffer)
		p.mu.Lock()
		p.raw.Write(buffer[:n])
		_, _ = p.screen.Write(buffer[:n])
		if p.first.IsZero() && p.screen.Alternate() && strings.TrimSpace(p.screen.String()) != "" {
			p.first = time.Now()
		}
		p.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// Screen returns what is on the screen.
func (p *Program) Screen() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.screen.String()
}

// Look calls see with the screen while nothing is drawn.
func (p *Program) Look(see func(*Screen)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	see(p.screen)
}

// Raw returns everything that the program has written.
func (p *Program) Raw() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.raw.String()
}

// FirstFrame returns when something was first drawn on the alternate screen.
func (p *Program) FirstFrame() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.first
}

// PID returns the identifier of the process.
func (p *Program) PID() int { return p.cmd.Process.Pid }

// Press types keys.
func (p *Program) Press(keys string) {
	p.t.Helper()
	if _, err := io.WriteString(p.tty, keys); err != nil && !errors.Is(err, syscall.EIO) {
		p.t.Fatal(err)
	}
}

// Resize changes the size of the terminal.
func (p *Program) Resize(width, height int) {
	p.t.Helper()
	p.mu.Lock()
	p.screen.Resize(width, height)
	p.mu.Unlock()
	if err := pty.Setsize(p.tty, &pty.Winsize{Cols: uint16(width), Rows: uint16(height)}); err != nil {
		p.t.Fatal(err)
	}
}

// Signal sends a signal to the program.
func (p *Program) Signal(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// See waits until all texts are on the screen.
func (p *Program) See(texts ...string) {
	p.t.Helper()
	p.until(strings.Join(texts, " and ")+" on the screen", func(screen string) bool {
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				return false
			}
		}
		return true
	})
}

// Lose waits until a text is not on the screen.
func (p *Program) Lose(text string) {
	p.t.Helper()
	p.until(text+" gone from the screen", func(screen string) bool { return !strings.Contains(screen, text) })
}

// Until waits until the screen is as it should be.
func (p *Program) Until(what string, is func(screen string) bool) {
	p.t.Helper()
	p.until(what, is)
}

func (p *Program) until(what string, is func(screen string) bool) {
	p.t.Helper()
	servertest.Eventually(p.t, what, func() (bool, any) {
		screen := p.Screen()
		return is(screen), screen
	})
}

// Wait waits until the program has ended, and returns its exit code.
func (p *Program) Wait() int {
	p.t.Helper()
	select {
	case <-p.done:
	case <-time.After(servertest.Patience):
		p.t.Fatalf("the program does not end; the screen is\n%s", p.Screen())
	}
	var exit *exec.ExitError
	switch {
	case p.err == nil:
		return 0
	case errors.As(p.err, &exit):
		return exit.ExitCode()
	default:
		p.t.Fatal(p.err)
		return -1
	}
}
