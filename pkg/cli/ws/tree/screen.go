package tree

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// screen is a terminal on which lines are drawn in place of those before.
type screen struct {
	out io.Writer
	// drawn is how many lines there are, last what they say.
	drawn int
	last  string
}

// show draws lines in place of those before. What does not fit onto the terminal cannot be
// drawn in place, so its end is left out.
func (s *screen) show(lines []string) error {
	if height := s.height(); height > 2 && len(lines) >= height {
		rest := len(lines) - height + 2
		lines = append(lines[:height-2:height-2], fmt.Sprintf("(%d more lines)", rest))
	}
	text := strings.Join(lines, "\n") + "\n"
	if text == s.last {
		return nil
	}
	erase := ""
	if s.drawn > 0 {
		erase = fmt.Sprintf("\x1b[%dA\r\x1b[J", s.drawn)
	}
	s.drawn, s.last = len(lines), text
	// One write, so that nobody sees half of it.
	_, err := io.WriteString(s.out, erase+text)
	return err
}

// height returns how many lines the terminal has, 0 if that is not known.
func (s *screen) height() int {
	file, ok := s.out.(*os.File)
	if !ok {
		return 0
	}
	_, rows, err := term.GetSize(int(file.Fd()))
	if err != nil {
		return 0
	}
	return rows
}
