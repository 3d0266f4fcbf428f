package registry

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

const directoryMode fs.FileMode = 0o700

// directories are where entries lie: the first is for new ones. All are looked at, since a
// session need not have the directory that another one has.
func directories() []string {
	temporary := filepath.Join(os.TempDir(), temporaryName())
	if shared := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(shared) {
		if info, err := os.Stat(shared); err == nil && info.IsDir() {
			return []string{filepath.Join(shared, "kcp"), temporary}
		}
	}
	return []string{temporary}
}

// own makes the directory if need be, and says why it cannot be trusted.
func own(directory string) error {
	if err := os.Mkdir(directory, directoryMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return check(directory)
}

// check says why a directory cannot be trusted: others may have made one of that name
// among the temporary files, or a link.
func check(directory string) error {
	info, err := os.Lstat(directory)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a directory", directory)
	}
	if !ownedAlone(info) {
		return fmt.Errorf("%s can be written by others", directory)
	}
	return nil
}
