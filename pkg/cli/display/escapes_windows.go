package display

import (
	"os"

	"golang.org/x/sys/windows"
)

// takesEscapes switches the console to understanding escape sequences and says whether
// that worked: those before Windows 10 print them.
func takesEscapes(stream any) bool {
	file, ok := stream.(*os.File)
	if !ok {
		return true
	}
	handle := windows.Handle(file.Fd())
	var mode uint32
	if err := windows.GetConsoleMode(handle, &mode); err != nil {
		// No console: a terminal emulator that talks over a pipe.
		return true
	}
	if mode&windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING != 0 {
		return true
	}
	return windows.SetConsoleMode(handle, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
