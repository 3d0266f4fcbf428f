package rootdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/forkless/kcp/internal/filelock"
)

const (
	directoryMode fs.FileMode = 0o700
	fileMode      fs.FileMode = 0o600
)

// Directory is a root directory that this process holds.
type Directory struct {
	path  string
	label string
	lock  *os.File
	// made says that the directory was not there before.
	made bool
	// fresh says that no server has written into it yet.
	fresh bool
}

// Open takes hold of the directory at path for holder, and makes it if need be. label
// is how errors name it. The errors are of type *InUseError if another process holds it
// and of type *NewerLayoutError if it was written by a newer version.
func Open(path, label string, holder Holder) (*Directory, error) {
	made, err := ensure(path)
	if err != nil {
		return nil, fmt.Errorf("making directory %s: %w", label, err)
	}
	lock, err := filelock.Acquire(filepath.Join(path, LockFile))
	switch {
	case errors.Is(err, filelock.ErrHeld):
		return nil, &InUseError{Label: label, Holder: readHolder(filepath.Join(path, LockFile))}
	case err != nil:
		return nil, fmt.Errorf("locking directory %s: %w", label, err)
	}

	d := &Directory{path: path, label: label, lock: lock, made: made}
	if d.fresh, err = checkLayout(path, label, holder.Version); err == nil {
		err = d.Describe(holder)
	}
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// ensure makes the directory if it is not there and says whether it did.
func ensure(path string) (made bool, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return false, err
	}
	err = os.Mkdir(path, directoryMode)
	if !errors.Is(err, fs.ErrExist) {
		return err == nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return false, err
	}
	if !info.IsDir() {
		return false, fmt.Errorf("%s is not a directory", path)
	}
	return false, nil
}

// Path returns the path of the directory.
func (d *Directory) Path() string { return d.path }

// New says whether no server has used the directory before.
func (d *Directory) New() bool { return d.fresh }

// Describe replaces what others can read about who holds the directory.
func (d *Directory) Describe(holder Holder) error {
	if err := writeHolder(d.lock, holder); err != nil {
		return fmt.Errorf("writing %s of %s: %w", LockFile, d.label, err)
	}
	return nil
}

// Claim marks the directory as written by version. Call it before anything else is
// written.
func (d *Directory) Claim(version string) error {
	if err := writeLayout(d.path, version); err != nil {
		return fmt.Errorf("marking %s: %w", d.label, err)
	}
	d.made = false
	return nil
}

// Close lets go of the directory. One that Open made and nobody claimed is removed.
func (d *Directory) Close() error {
	if !d.made {
		return errors.Join(d.lock.Truncate(0), filelock.Release(d.lock))
	}
	err := filelock.Remove(d.lock)
	// If somebody has put something into it meanwhile it stays.
	_ = os.Remove(d.path)
	return err
}
