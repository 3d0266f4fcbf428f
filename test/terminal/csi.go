package terminal

import (
	"fmt"

	"github.com/charmbracelet/x/ansi"
)

// csi obeys a control sequence.
func (s *Screen) csi(cmd ansi.Cmd, params ansi.Params) {
	first := func(def int) int {
		n, _, _ := params.Param(0, def)
		return n
	}
	if cmd.Prefix() != 0 || cmd.Intermediate() != 0 {
		s.private(cmd, params)
		return
	}
	switch final := cmd.Final(); final {
	case 'A', 'B', 'C', 'D', 'E', 'F', 'G', '`', 'H', 'f', 'I', 'Z', 'a', 'd', 'e':
		s.move(final, max(1, first(1)), params)
	case 'J', 'K', 'X':
		s.erase(final, params)
	case 'L', 'M', 'S', 'T', '@', 'P':
		s.shift(final, max(1, first(1)))
	case 'b':
		for range max(1, first(1)) {
			s.print(s.last)
		}
	case 'r':
		bottom, _, _ := params.Param(1, s.height)
		s.top, s.bottom = max(1, first(1))-1, min(bottom, s.height)-1
		s.row, s.column = 0, 0
	case 's':
		s.savedRow, s.savedColumn = s.row, s.column
	case 'u':
		s.row, s.column = s.savedRow, s.savedColumn
	case 'm', 'c', 'n', 'q', 't', 'g':
		// Colors, questions, the shape of the cursor, and tab stops.
	case 'h', 'l':
	default:
		s.unknown(cmd)
	}
	s.row, s.column = min(max(s.row, 0), s.height-1), min(max(s.column, 0), s.width-1)
}

func (s *Screen) unknown(cmd ansi.Cmd) {
	s.Unknown = append(s.Unknown, fmt.Sprintf("CSI %q %q %q", cmd.Prefix(), cmd.Intermediate(), cmd.Final()))
}

func (s *Screen) move(final byte, n int, params ansi.Params) {
	s.wrapNext = false
	switch final {
	case 'A':
		s.row -= n
	case 'B', 'e':
		s.row += n
	case 'C', 'a':
		s.column += n
	case 'D':
		s.column -= n
	case 'E':
		s.row, s.column = s.row+n, 0
	case 'F':
		s.row, s.column = s.row-n, 0
	case 'G', '`':
		s.column = n - 1
	case 'd':
		s.row = n - 1
	case 'H', 'f':
		column, _, _ := params.Param(1, 1)
		s.row, s.column = n-1, max(1, column)-1
	case 'I':
		s.column = (s.column/8 + n) * 8
	case 'Z':
		s.column = max(0, ((s.column+7)/8-n)*8)
	}
}

func (s *Screen) erase(final byte, params ansi.Params) {
	n, _, _ := params.Param(0, 0)
	wipe := func(row, from, to int) {
		for i := from; i < min(to, s.width); i++ {
			s.cells[row][i] = " "
		}
	}
	switch {
	case final == 'X':
		wipe(s.row, s.column, s.column+max(1, n))
	case final == 'K' && n == 0:
		wipe(s.row, s.column, s.width)
	case final == 'K' && n == 1:
		wipe(s.row, 0, s.column+1)
	case final == 'K':
		wipe(s.row, 0, s.width)
	case n == 0:
		wipe(s.row, s.column, s.width)
		for row := s.row + 1; row < s.height; row++ {
			wipe(row, 0, s.width)
		}
	case n == 1:
		for row := range s.row {
			wipe(row, 0, s.width)
		}
		wipe(s.row, 0, s.column+1)
	default:
		for row := range s.height {
			wipe(row, 0, s.width)
		}
	}
}

func (s *Screen) shift(final byte, n int) {
	s.wrapNext = false
	row := s.cells[s.row]
	switch final {
	case 'S':
		s.scroll(n)
	case 'T':
		s.scroll(-n)
	case 'L', 'M':
		if s.row < s.top || s.row > s.bottom {
			return
		}
		top := s.top
		s.top = s.row
		s.scroll(map[byte]int{'L': -n, 'M': n}[final])
		s.top = top
	case '@':
		n = min(n, s.width-s.column)
		copy(row[s.column+n:], row[s.column:])
		copy(row[s.column:], blank(n))
	case 'P':
		n = min(n, s.width-s.column)
		copy(row[s.column:], row[s.column+n:])
		copy(row[s.width-n:], blank(n))
	}
}

// private obeys the sequences that began as extensions: modes, of which the alternate
// screen is one, and the protocols of keyboards.
func (s *Screen) private(cmd ansi.Cmd, params ansi.Params) {
	set := cmd.Final() == 'h'
	if cmd.Prefix() != '?' || cmd.Intermediate() != 0 || !set && cmd.Final() != 'l' {
		return
	}
	params.ForEach(0, func(_, mode int, _ bool) {
		if mode == 1049 && set != s.modes[mode] {
			s.switchScreen(set)
		}
		s.modes[mode] = set
		if !set && mode != 25 {
			delete(s.modes, mode)
		}
	})
}

func (s *Screen) switchScreen(alternate bool) {
	if alternate {
		s.savedRow, s.savedColumn = s.row, s.column
		s.alternate = resized(nil, s.width, s.height)
		s.cells = s.alternate
		return
	}
	s.cells = s.normal
	s.row, s.column = s.savedRow, s.savedColumn
}
