package rootdir

import (
	"errors"
	"os"
)

// errHeld says that another process has a lock.
var errHeld = errors.New("held by another process")

// acquire opens the file at path and locks it, or returns errHeld.
func acquire(path string) (*os.File, error) {
	for {
		file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, fileMode)
		if err != nil {
			return nil, err
		}
		if err := tryLock(file); err != nil {
			return nil, errors.Join(err, file.Close())
		}
		// Between opening and locking the holder may have removed the file. The lock
		// would then be on a file that nobody else can find.
		if same, err := stillAt(file, path); same {
			return file, nil
		} else if err := errors.Join(err, release(file)); err != nil {
			return nil, err
		}
	}
}

// stillAt says whether the open file is the one that path leads to.
func stillAt(file *os.File, path string) (bool, error) {
	opened, err := file.Stat()
	if err != nil {
		return false, err
	}
	there, err := os.Stat(path)
	if os.IsNotExist(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return os.SameFile(opened, there), nil
}

// isHeld says whether some process has the lock on the file at path.
func isHeld(path string) (bool, error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return false, err
	}
	err = tryLock(file)
	if errors.Is(err, errHeld) {
		return true, file.Close()
	}
	if err != nil {
		return false, errors.Join(err, file.Close())
	}
	return false, release(file)
}

// release gives up the lock on file and closes it.
func release(file *os.File) error {
	return errors.Join(unlock(file), file.Close())
}
