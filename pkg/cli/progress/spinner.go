package progress

import (
	"strings"
	"time"

	"github.com/forkless/kcp/pkg/cli/display"
)

// eraseLine goes to the first column and removes what is on the line.
const eraseLine = "\r\x1b[2K"

// spinner is the line on a terminal.
type spinner struct {
	display display.Display
	subject string

	name, detail string
	since        time.Time
	shown        string
	drawnAt      time.Time
	frames       int
}

// state takes a state apart: what it is called, and what holds it.
func (s *spinner) state(text string, now time.Time) {
	name, detail, _ := strings.Cut(text, ", ")
	if name != s.name {
		s.since = now
	}
	s.name, s.detail = name, detail
}

// draw returns what has to be written for the line to be up to date. It returns nothing
// more often than once a frame.
func (s *spinner) draw(now time.Time) string {
	if s.shown != "" && now.Sub(s.drawnAt) < frame {
		return ""
	}
	turning := s.display.Glyphs().Spinner
	line := turning[s.frames%len(turning)] + " " + s.subject
	s.frames++
	if s.name != "" {
		line += "  " + s.name + " " + now.Sub(s.since).Truncate(time.Second).String()
	}
	if s.detail != "" {
		line += "   " + s.detail
	}
	if width := s.display.Width; width > 0 {
		// A cursor behind the last column would begin a new line. The end is what gives:
		// the beginning says what it is about.
		line = s.display.CutEnd(line, max(1, width-1))
	}
	s.shown, s.drawnAt = line, now
	return eraseLine + line
}

// clear returns what has to be written for the line to be gone.
func (s *spinner) clear() string {
	if s.shown == "" {
		return ""
	}
	s.shown = ""
	return eraseLine
}
