package start

import (
	"os"

	"golang.org/x/sys/unix"
)

// duplicate makes the stream to lead to where from does.
func duplicate(from, to *os.File) error { return unix.Dup3(int(from.Fd()), int(to.Fd()), 0) }
