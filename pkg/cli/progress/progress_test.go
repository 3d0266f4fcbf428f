package progress

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/forkless/kcp/pkg/cli/display"
)

const subject = "workspace root:acme:payments"

// stage is a Progress whose clock the test moves.
type stage struct {
	*Progress
	clock *clocktesting.FakeClock
	out   *bytes.Buffer
}

func newStage(d display.Display, quiet bool) stage {
	clock := clocktesting.NewFakeClock(time.Date(2026, 8, 20, 10, 44, 12, 0, time.UTC))
	out := &bytes.Buffer{}
	return stage{Progress: start(out, d, quiet, subject, clock), clock: clock, out: out}
}

// pass lets time go by, and shows what there is to show then. The ticker may show it as
// well: nothing is said twice.
func (s stage) pass(d time.Duration) {
	s.clock.Step(d)
	s.tick()
}

func (s stage) said() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.String()
}

func TestLines(t *testing.T) {
	s := newStage(display.Display{}, false)
	s.State("Scheduling")
	if s.said() != "" {
		t.Errorf("quick things are silent, it said %q", s.said())
	}
	s.pass(200 * time.Millisecond)
	s.State("Initializing, waiting for system:apibindings, root:acme:team")
	s.State("Initializing, waiting for system:apibindings, root:acme:team")
	s.pass(4 * time.Second)
	s.Done("Ready")
	s.Done("twice")
	s.State("too late")
	want := subject + `: Scheduling
` + subject + `: Initializing, waiting for system:apibindings, root:acme:team
` + subject + `: Ready after 4.2s
`
	if diff := cmp.Diff(want, s.said()); diff != "" {
		t.Errorf("a line for each change of state: (-want +got)\n%s", diff)
	}
}

func TestQuick(t *testing.T) {
	for name, d := range map[string]display.Display{"Pipe": {}, "Terminal": {Terminal: true, Redraw: true}} {
		s := newStage(d, false)
		s.State("Scheduling")
		s.pass(100 * time.Millisecond)
		s.Done("Ready")
		if s.said() != "" {
			t.Errorf("%s: what is quick needs no talk, it said %q", name, s.said())
		}
	}
}

func TestSilence(t *testing.T) {
	s := newStage(display.Display{}, false)
	s.State("Initializing, waiting for root:acme:team")
	for range 40 {
		s.pass(5 * time.Second)
	}
	s.Done("")
	line := subject + ": still Initializing, waiting for root:acme:team after "
	want := subject + ": Initializing, waiting for root:acme:team\n" + line + "35s\n" + line + "1m35s\n" + line + "2m35s\n"
	if diff := cmp.Diff(want, s.said()); diff != "" {
		t.Errorf("after 30 seconds, and then once a minute: (-want +got)\n%s", diff)
	}
}

func TestQuiet(t *testing.T) {
	s := newStage(display.Display{Terminal: true, Redraw: true}, true)
	s.State("Initializing")
	s.pass(time.Minute)
	s.Done("Ready")
	if s.said() != "" {
		t.Errorf("nothing is said, not %q", s.said())
	}
}

func TestSpinner(t *testing.T) {
	s := newStage(display.Display{Terminal: true, Redraw: true, Width: 46}, false)
	s.State("Scheduling")
	s.pass(time.Second)
	s.State("Initializing, waiting for root:acme:team and others")
	s.pass(4 * time.Second)
	lines := strings.Split(s.said(), eraseLine)
	last := lines[len(lines)-1]
	if want := "payments  Initializing 4s   waiting for ro…"; !strings.HasSuffix(last, want) || display.Cells(last) != 45 {
		t.Errorf("the line is %q, want a frame of the spinner and %q", last, want)
	}
	before := len(s.said())
	for range 50 {
		s.State("Initializing, still")
		s.State("Initializing, waiting")
	}
	if got := len(s.said()); got != before {
		t.Errorf("it was drawn again within a frame: %q", s.said()[before:])
	}
	s.Done("Ready")
	if got := s.said(); !strings.HasSuffix(got, eraseLine) || strings.Contains(got, "\n") {
		t.Errorf("the line is not gone at the end: %q", got)
	}
}

func TestManyAtOnce(t *testing.T) {
	s := newStage(display.Display{Terminal: true, Redraw: true}, false)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				s.State("Initializing")
				s.clock.Step(20 * time.Millisecond)
			}
		})
	}
	all.Wait()
	s.Done("")
	frames := strings.Split(s.said(), eraseLine)
	if len(frames) < 3 || frames[0] != "" || frames[len(frames)-1] != "" {
		t.Fatalf("nothing was drawn, or it is not gone: %q", frames)
	}
	for _, frame := range frames[1 : len(frames)-1] {
		if strings.Count(frame, "payments") != 1 || strings.Count(frame, "Initializing") != 1 {
			t.Errorf("a frame that is not whole: %q", frame)
		}
	}
}
