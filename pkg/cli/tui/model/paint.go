package model

import (
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/forkless/kcp/pkg/cli/display"
)

// The roles of text. Reverse is beside those of display: it marks what is new and where
// text goes, which words say, too.
const (
	plain       = display.Plain
	okRole      = display.OK
	waitingRole = display.Waiting
	failedRole  = display.Failed
	warningRole = display.Warning
	unknownRole = display.Unknown
	faint       = display.Faint
	strong      = display.Strong
	current     = display.Current
	reverse     = display.Role(-1)
)

// roleOf returns the role of a state.
func roleOf(s State) display.Role {
	switch s {
	case OK:
		return okRole
	case Waiting:
		return waitingRole
	case Failed:
		return failedRole
	default:
		return unknownRole
	}
}

func (m *Model) d() display.Display { return m.o.Display }

// style returns s in the colors of a role.
func (m *Model) style(role display.Role, s string) string {
	if role == reverse {
		if m.o.Display.Color {
			return "\x1b[7m" + s + "\x1b[0m"
		}
		if strings.TrimSpace(s) == "" {
			// The place where text goes is seen without color, too.
			return "_"
		}
		return s
	}
	return m.o.Display.Style(role, s)
}

// bold returns s with the runes at some positions standing out.
func (m *Model) bold(s string, positions []int) string {
	if len(positions) == 0 || !m.o.Display.Color {
		return s
	}
	var b strings.Builder
	next := 0
	for i, r := range []rune(s) {
		if next < len(positions) && positions[next] == i {
			next++
			b.WriteString(m.style(strong, string(r)))
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// glyphs are those of display, and a few that only the tree draws.
type glyphs struct {
	display.Glyphs
	cursor, bound, wait, home        string
	topLeft, topRight, bottomLeft    string
	bottomRight, vertical, rowCursor string
}

func (m *Model) g() glyphs {
	g := glyphs{
		Glyphs: m.o.Display.Glyphs(), bound: "◆", wait: "!", home: "~",
		topLeft: "╭", topRight: "╮", bottomLeft: "╰", bottomRight: "╯", vertical: "│", rowCursor: " →",
	}
	g.cursor = g.Cursor
	if m.o.Display.ASCII {
		g.bound, g.rowCursor = "#", "->"
		g.topLeft, g.topRight, g.bottomLeft, g.bottomRight, g.vertical = "+", "+", "+", "+", "|"
	}
	return g
}

// pad returns s with spaces up to a width, or s and a space if it is wider.
func pad(s string, width int) string {
	n := width - display.Cells(s)
	if n <= 0 {
		return s + " "
	}
	return s + strings.Repeat(" ", n)
}

// fit returns s in exactly that many cells. What does not fit is cut at its end.
func (m *Model) fit(s string, width int) string {
	s = m.cutEnd(s, width)
	return s + strings.Repeat(" ", max(0, width-display.Cells(s)))
}

// cutEnd returns s in at most that many cells, escape sequences in it left whole.
func (m *Model) cutEnd(s string, width int) string {
	if display.Cells(s) <= width {
		return s
	}
	return ansi.Truncate(s, max(0, width), m.g().Ellipsis)
}

// cut returns s in at most that many cells, its middle cut out.
func (m *Model) cut(s string, width int) string {
	if width <= 0 {
		return ""
	}
	return m.o.Display.Cut(s, width)
}

// wrap returns lines broken to a width. What follows a break begins where its line did.
func (m *Model) wrap(lines []string, width int) []string {
	var wrapped []string
	for _, line := range lines {
		if display.Cells(line) <= width || width < 8 {
			wrapped = append(wrapped, m.cutEnd(line, width))
			continue
		}
		for piece := range strings.SplitSeq(ansi.Wrap(line, width, ""), "\n") {
			wrapped = append(wrapped, piece)
		}
	}
	return wrapped
}

// typeName returns the last part of a type.
func typeName(t string) string { return t[strings.LastIndex(t, ":")+1:] }

// age returns how long ago t was, as kubectl writes ages.
func (m *Model) age(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return duration.HumanDuration(max(0, m.now.Sub(t)))
}
