package progress

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// history is the lines of those who have no spinner.
type history struct {
	subject string
	// current is the state, unsaid are those that nobody has heard of.
	current string
	unsaid  []string
	// last is when something was said, reminded whether that was for the silence.
	last     time.Time
	reminded bool
	// began is when the waiting did.
	began time.Time
}

func (h *history) state(text string) {
	if text == h.current {
		return
	}
	h.current = text
	h.unsaid = append(h.unsaid, text)
}

// flush returns what is to be said now: each change of state or, after a long silence,
// that there was none.
func (h *history) flush(now time.Time) string {
	var b strings.Builder
	for _, text := range h.unsaid {
		fmt.Fprintf(&b, "%s: %s\n", h.subject, text)
	}
	switch silent := now.Sub(h.last); {
	case b.Len() > 0:
		h.last, h.reminded = now, false
	case silent >= patienceAgain, silent >= patience && !h.reminded:
		fmt.Fprintf(&b, "%s: still %s after %s\n", h.subject, cmp.Or(h.current, "waiting"), seconds(now.Sub(h.began)))
		h.last, h.reminded = now, true
	}
	h.unsaid = nil
	return b.String()
}
