package output

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// errSpecial is said of devices and pipes. Whoever may would replace even /dev/null.
var errSpecial = errors.New("not a regular file")

// Replaceable says why what is at file, if there is anything, is not to be replaced by a
// file that has been written beside it.
func Replaceable(file string) error {
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return errors.Unwrap(err)
	case info.IsDir():
		return syscall.EISDIR
	case !info.Mode().IsRegular():
		return errSpecial
	default:
		return nil
	}
}
