package terminal

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Screen is what is seen of the output of a program.
type Screen struct {
	parser        *ansi.Parser
	width, height int
	// normal and alternate are the two screens; cells is the one that is seen.
	normal, alternate, cells [][]string
	row, column              int
	// wrapNext says that the last column is full: the next character begins a line.
	wrapNext    bool
	top, bottom int
	savedRow    int
	savedColumn int
	// modes are the private modes that are set.
	modes map[int]bool
	// last is the character that can be repeated.
	last string
	// Unknown are the sequences that it did not understand.
	Unknown []string
	// Clipboard is what was put into the clipboard, encoded.
	Clipboard string
}

// NewScreen returns an empty screen.
func NewScreen(width, height int) *Screen {
	s := &Screen{parser: ansi.NewParser(), modes: map[int]bool{25: true}}
	s.parser.SetHandler(ansi.Handler{Print: func(r rune) { s.print(string(r)) }, Execute: s.control, HandleCsi: s.csi, HandleEsc: s.esc, HandleOsc: s.osc})
	s.parser.SetParamsSize(32)
	s.parser.SetDataSize(1 << 16)
	s.Resize(width, height)
	return s
}

// Resize changes the size. What does not fit is lost, as on most terminals.
func (s *Screen) Resize(width, height int) {
	onAlternate := s.Alternate()
	s.width, s.height = width, height
	s.normal, s.alternate = resized(s.normal, width, height), resized(s.alternate, width, height)
	s.cells = s.normal
	if onAlternate {
		s.cells = s.alternate
	}
	s.top, s.bottom = 0, height-1
	s.row, s.column, s.wrapNext = min(s.row, height-1), min(s.column, width-1), false
}

func resized(old [][]string, width, height int) [][]string {
	cells := make([][]string, height)
	for i := range cells {
		cells[i] = blank(width)
		if i < len(old) {
			copy(cells[i], old[i])
		}
	}
	return cells
}

func blank(width int) []string {
	row := make([]string, width)
	for i := range row {
		row[i] = " "
	}
	return row
}

// Write takes output of the program in.
func (s *Screen) Write(p []byte) (int, error) {
	s.parser.Parse(p)
	return len(p), nil
}

// String returns the lines of the screen without spaces at their ends.
func (s *Screen) String() string {
	lines := make([]string, s.height)
	for i, row := range s.cells {
		lines[i] = strings.TrimRight(strings.Join(row, ""), " ")
	}
	return strings.Join(lines, "\n")
}

// Alternate says whether the alternate screen is shown.
func (s *Screen) Alternate() bool { return s.modes[1049] }

// Whole says what a program has left switched that was not so before it began: nil if
// the terminal is as it was found.
func (s *Screen) Whole() error {
	var left []string
	for mode, on := range s.modes {
		if on != (mode == 25) {
			left = append(left, fmt.Sprintf("mode %d is %v", mode, on))
		}
	}
	if len(left) > 0 {
		return fmt.Errorf("the terminal was left with %s", strings.Join(left, ", "))
	}
	return nil
}

func (s *Screen) print(char string) {
	width := ansi.StringWidth(char)
	if width == 0 {
		if s.column > 0 {
			s.cells[s.row][s.column-1] += char
		}
		return
	}
	if s.wrapNext || s.column+width > s.width {
		s.column, s.wrapNext = 0, false
		s.lineFeed()
	}
	s.cells[s.row][s.column] = char
	for i := 1; i < width; i++ {
		s.cells[s.row][s.column+i] = ""
	}
	s.last = char
	s.column += width
	if s.column >= s.width {
		s.column, s.wrapNext = s.width-1, true
	}
}

func (s *Screen) lineFeed() {
	if s.row == s.bottom {
		s.scroll(1)
		return
	}
	s.row = min(s.row+1, s.height-1)
}

// scroll moves the lines of the scroll region up, or down if n is negative.
func (s *Screen) scroll(n int) {
	for ; n > 0; n-- {
		copy(s.cells[s.top:s.bottom+1], s.cells[s.top+1:s.bottom+1])
		s.cells[s.bottom] = blank(s.width)
	}
	for ; n < 0; n++ {
		copy(s.cells[s.top+1:s.bottom+1], s.cells[s.top:s.bottom])
		s.cells[s.top] = blank(s.width)
	}
}

func (s *Screen) control(b byte) {
	switch b {
	case '\r':
		s.column, s.wrapNext = 0, false
	case '\n', '\v', '\f':
		s.wrapNext = false
		s.lineFeed()
	case '\b':
		s.column, s.wrapNext = max(0, s.column-1), false
	case '\t':
		s.column, s.wrapNext = min(s.width-1, (s.column/8+1)*8), false
	}
}

func (s *Screen) esc(cmd ansi.Cmd) {
	switch cmd.Final() {
	case '7':
		s.savedRow, s.savedColumn = s.row, s.column
	case '8':
		s.row, s.column = s.savedRow, s.savedColumn
	case 'M':
		if s.row == s.top {
			s.scroll(-1)
			return
		}
		s.row = max(0, s.row-1)
	case 'D':
		s.lineFeed()
	case '=', '>', '\\', 'B':
	default:
		s.Unknown = append(s.Unknown, fmt.Sprintf("ESC %q", cmd.Final()))
	}
}

func (s *Screen) osc(cmd int, data []byte) {
	if cmd == 52 {
		s.Clipboard = string(data)
	}
}
