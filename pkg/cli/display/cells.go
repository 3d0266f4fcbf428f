package display

import (
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// Cells returns how many cells of a terminal s takes. Escape sequences take none.
func Cells(s string) int { return ansi.StringWidth(s) }

// Pad returns s with spaces behind it, so that it takes at least that many cells.
func Pad(s string, cells int) string {
	return s + strings.Repeat(" ", max(0, cells-Cells(s)))
}

// Cut returns s in at most that many cells: both ends, and an ellipsis between them,
// for the ends of names are what tells them apart. With 0 cells, which stands for no
// limit, it returns s itself.
func (d Display) Cut(s string, cells int) string {
	total := Cells(s)
	switch {
	case cells == 0 || total <= cells:
		return s
	case cells < 0:
		return ""
	}
	ellipsis := d.Glyphs().Ellipsis
	left := cells - Cells(ellipsis)
	if left < 2 {
		// There is no room for two ends.
		return ansi.Truncate(s, cells, "")
	}
	head := (left + 1) / 2
	return ansi.Truncate(s, head, "") + ellipsis + end(s, left-head)
}

// end returns the end of s in at most that many cells.
func end(s string, cells int) string {
	skip := Cells(s) - cells
	tail := ansi.TruncateLeft(s, skip, "")
	if Cells(tail) > cells {
		// It began in the middle of a character of two cells.
		tail = ansi.TruncateLeft(s, skip+1, "")
	}
	return tail
}

// CutEnd returns the beginning of s in at most that many cells, for text of which the end
// matters least. 0 stands for no limit.
func (d Display) CutEnd(s string, cells int) string {
	if cells == 0 || Cells(s) <= cells {
		return s
	}
	return ansi.Truncate(s, max(0, cells), d.Glyphs().Ellipsis)
}

// Line returns s in one line and without control characters: what a server sends must
// not reach the terminal as commands.
func Line(s string) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), " ")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r):
			return unicode.ReplacementChar
		default:
			return r
		}
	}, s)
}
