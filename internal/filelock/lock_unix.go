//go:build unix

package filelock

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// try locks an open file for this process, or returns ErrHeld. The lock belongs to
// the open file, so that it also keeps out other parts of this process.
func try(file *os.File) error { return flock(file, unix.LOCK_EX) }

// tryShared is try for a lock that others may share.
func tryShared(file *os.File) error { return flock(file, unix.LOCK_SH) }

func flock(file *os.File, how int) error {
	for {
		err := unix.Flock(int(file.Fd()), how|unix.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EWOULDBLOCK):
			return ErrHeld
		default:
			return fmt.Errorf("flock: %w", err)
		}
	}
}

func unlock(file *os.File) error {
	return unix.Flock(int(file.Fd()), unix.LOCK_UN)
}
