package display

import (
	"os"

	"golang.org/x/term"
)

// IsTerminal says whether somebody sits at the other end of a stream. A stream that is
// no file can say so itself, by a method IsTerminal.
func IsTerminal(stream any) bool {
	switch s := stream.(type) {
	case interface{ IsTerminal() bool }:
		return s.IsTerminal()
	case *os.File:
		return s != nil && term.IsTerminal(int(s.Fd()))
	default:
		return false
	}
}

// terminalWidth asks the terminal for its width, and returns 0 if it does not say.
func terminalWidth(stream any) int {
	file, ok := stream.(*os.File)
	if !ok {
		return 0
	}
	columns, _, err := term.GetSize(int(file.Fd()))
	if err != nil {
		return 0
	}
	return columns
}
