// Package progress tells the person who waits what a command waits for.
//
// On a terminal that is one line of the error stream, drawn again in place and gone at
// the end; it appears after 150 ms, so that quick things stay silent. Elsewhere, and for
// those who have their terminal read aloud, it is a plain line for each change of state,
// from the moment on at which it would have appeared. When nothing has changed for 30
// seconds it says so, and then once a minute, so that a log shows that the command lives.
//
// A Progress may be used by several goroutines.
package progress

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/forkless/kcp/pkg/cli/display"
	"github.com/forkless/kcp/pkg/cli/run"
)

const (
	// quick is how long a command may take without saying anything.
	quick = 150 * time.Millisecond
	// frame is how long a frame of the spinner is shown.
	frame = 100 * time.Millisecond
	// patience is how long nothing is said elsewhere, and again how long after that.
	patience, patienceAgain = 30 * time.Second, time.Minute
)

// Progress is what is said about something that takes its time.
type Progress struct {
	w       io.Writer
	display display.Display
	subject string
	clock   clock.WithTicker
	quiet   bool

	stop    chan struct{}
	stopped sync.WaitGroup

	mu      sync.Mutex
	began   time.Time
	line    spinner
	history history
	ended   bool
}

// Start begins to talk about subject, such as "workspace root:acme:payments". On a
// terminal its last name is enough. Done has to be called at the end.
func Start(streams run.Streams, flags *display.Flags, subject string) *Progress {
	return start(streams.ErrOut, flags.For(streams.ErrOut), flags != nil && flags.Quiet, subject, clock.RealClock{})
}

func start(w io.Writer, d display.Display, quiet bool, subject string, c clock.WithTicker) *Progress {
	p := &Progress{w: w, display: d, subject: display.Line(subject), clock: c, quiet: quiet, stop: make(chan struct{}), began: c.Now()}
	p.line = spinner{display: d, subject: shortName(p.subject)}
	p.history = history{subject: p.subject, began: p.began, last: p.began}
	if quiet {
		return p
	}
	ticker := c.NewTicker(frame)
	p.stopped.Go(func() {
		defer ticker.Stop()
		for {
			select {
			case <-p.stop:
				return
			case <-ticker.C():
				p.tick()
			}
		}
	})
	return p
}

// State says what it is waiting for: a word or two, and behind a comma what holds it,
// such as "Initializing, waiting for root:acme:team". Saying the same again changes
// nothing.
func (p *Progress) State(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.quiet || p.ended {
		return
	}
	now := p.clock.Now()
	p.line.state(display.Line(text), now)
	p.history.state(display.Line(text))
	p.show(now)
}

// Done ends the talk. text, if not empty, says how it ended; it is for those who read
// lines, on a terminal the output of the command tells. After the first time Done does
// nothing, so that it can be deferred as well.
func (p *Progress) Done(text string) {
	p.mu.Lock()
	if p.ended {
		p.mu.Unlock()
		return
	}
	p.ended = true
	now := p.clock.Now()
	switch {
	case p.quiet:
	case p.display.Redraw:
		p.clear()
	case p.late(now):
		p.print(p.history.flush(now))
		if text != "" {
			p.print(fmt.Sprintf("%s: %s after %s\n", p.subject, display.Line(text), seconds(now.Sub(p.began))))
		}
	}
	p.mu.Unlock()
	close(p.stop)
	p.stopped.Wait()
}

// tick is called for each frame.
func (p *Progress) tick() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended {
		p.show(p.clock.Now())
	}
}

// late says whether it takes long enough to be talked about.
func (p *Progress) late(now time.Time) bool { return now.Sub(p.began) >= quick }

// show writes what there is to say.
func (p *Progress) show(now time.Time) {
	switch {
	case p.quiet, !p.late(now):
	case p.display.Redraw:
		p.print(p.line.draw(now))
	default:
		p.print(p.history.flush(now))
	}
}

// clear takes away what is drawn in place.
func (p *Progress) clear() {
	if p.display.Redraw {
		p.print(p.line.clear())
	}
}

// print writes to the error stream. That it cannot be written to has no consequence: a
// command does not fail because nobody listens.
func (p *Progress) print(text string) {
	if text != "" {
		_, _ = io.WriteString(p.w, text)
	}
}

// shortName returns the last name in a subject.
func shortName(subject string) string {
	return subject[strings.LastIndexAny(subject, ": ")+1:]
}

// seconds returns d as people say it: 0.3s, 4.2s, 1m5s.
func seconds(d time.Duration) string {
	if d < 10*time.Second {
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return d.Round(time.Second).String()
}
