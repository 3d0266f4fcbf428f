package filelock

import (
	"errors"
	"os"
	"runtime"
)

// fileMode is that of files that are made to be locked: they say what processes of their
// owner do.
const fileMode = 0o600

// ErrHeld says that somebody else has a lock.
var ErrHeld = errors.New("held by another process")

// Acquire opens the file at path, which is made if need be, and locks it, or returns
// ErrHeld.
func Acquire(path string) (*os.File, error) {
	for {
		file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, fileMode)
		if err != nil {
			return nil, err
		}
		locked, err := Lock(file)
		if err != nil {
			return nil, err
		}
		if locked {
			return file, nil
		}
	}
}

// Lock locks an open file, or returns ErrHeld. Between opening and locking somebody who
// had the lock may have removed the file; the lock would then be on a file that nobody
// else can find, and locked is false. Unless it is locked, the file is closed.
func Lock(file *os.File) (locked bool, err error) {
	if err := tryPatiently(file); err != nil {
		return false, errors.Join(err, file.Close())
	}
	if locked, err = stillThere(file); locked {
		return true, nil
	}
	return false, errors.Join(err, Release(file))
}

// tryPatiently is try that lets those finish who only ask.
func tryPatiently(file *os.File) error {
	for {
		err := try(file)
		if !errors.Is(err, ErrHeld) {
			return err
		}
		// Nobody who shares it has it for longer than an instant.
		if err := tryShared(file); err != nil {
			return err
		}
		if err := unlock(file); err != nil {
			return err
		}
		runtime.Gosched()
	}
}

// stillThere says whether the open file is the one that its path leads to.
func stillThere(file *os.File) (bool, error) {
	opened, err := file.Stat()
	if err != nil {
		return false, err
	}
	there, err := os.Stat(file.Name())
	if os.IsNotExist(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return os.SameFile(opened, there), nil
}

// Held says whether somebody has the lock on the file at path. Asking shares the lock for
// an instant if nobody has it: others who ask do not notice, and who wants to have it waits.
func Held(path string) (bool, error) {
	file, err := Share(path)
	if errors.Is(err, ErrHeld) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return false, Release(file)
}

// Share opens the file at path, and keeps others from locking it until it is released, or
// returns ErrHeld. It is for an instant: Acquire and Lock wait for it.
func Share(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	if err := tryShared(file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// Release gives up the lock on file and closes it.
func Release(file *os.File) error {
	return errors.Join(unlock(file), file.Close())
}

// Remove removes a locked file and releases it. The file goes while the lock is held, so
// that nobody gets a lock on a file that is about to go; Windows does not remove open
// files.
func Remove(file *os.File) error {
	removed := os.Remove(file.Name()) == nil
	err := Release(file)
	if !removed {
		err = errors.Join(err, os.Remove(file.Name()))
	}
	return err
}
