package filelock

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

// The lock is on one byte far behind the content: a lock on Windows keeps others from
// reading what it covers, and they are to read who holds the directory.
const (
	lockedByte = 1 << 30
	oneByte    = 1
)

// try locks an open file for this process, or returns ErrHeld.
func try(file *os.File) error { return lock(file, windows.LOCKFILE_EXCLUSIVE_LOCK) }

// tryShared is try for a lock that others may share.
func tryShared(file *os.File) error { return lock(file, 0) }

func lock(file *os.File, flags uint32) error {
	err := windows.LockFileEx(windows.Handle(file.Fd()), flags|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, oneByte, 0, at())
	switch {
	case err == nil:
		return nil
	case errors.Is(err, windows.ERROR_LOCK_VIOLATION), errors.Is(err, windows.ERROR_IO_PENDING):
		return ErrHeld
	default:
		return fmt.Errorf("locking file: %w", err)
	}
}

func unlock(file *os.File) error {
	return windows.UnlockFileEx(windows.Handle(file.Fd()), 0, oneByte, 0, at())
}

func at() *windows.Overlapped { return &windows.Overlapped{Offset: lockedByte} }
