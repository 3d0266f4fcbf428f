package rootdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/forkless/kcp/internal/fileerror"
	"github.com/forkless/kcp/internal/filelock"
)

const (
	directoryMode fs.FileMode = 0o700
	fileMode      fs.FileMode = 0o600
	// parentMode is that of directories around a root directory.
	parentMode fs.FileMode = 0o755

	// unfinished ends the names of files that are being written.
	unfinished = ".new"
)

// Directory is a root directory that this process holds.
type Directory struct {
	path  string
	label string
	lock  *os.File
	// made are the directories that were not there before, the root directory last: none
	// if it was.
	made []string
	// before are the names of what was in it.
	before map[string]bool
	// fresh says that no server has written into it yet, claimed that this one has.
	fresh, claimed bool
}

// Open takes hold of the directory at path for holder, and makes it if need be. label
// is how errors name it. The errors are of type *InUseError if another process holds it
// and of type *NewerLayoutError if it was written by a newer version.
func Open(path, label string, holder Holder) (*Directory, error) {
	d := &Directory{path: path, label: label}
	if err := d.ensure(); err != nil {
		d.unmake()
		return nil, fmt.Errorf("making directory %s: %w", label, fileerror.Cause(err))
	}
	if err := d.acquire(); err != nil {
		d.unmake()
		return nil, err
	}
	var err error
	if d.fresh, err = checkLayout(path, label, holder.Version); err == nil {
		err = d.Describe(holder)
	}
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// ensure makes the directory, with those around it, if it is not there.
func (d *Directory) ensure() error {
	var missing []string
	for path := d.path; ; path = filepath.Dir(path) {
		info, err := os.Stat(path)
		if err == nil && !info.IsDir() {
			return fmt.Errorf("%s is not a directory", path)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			if err != nil {
				return err
			}
			break
		}
		missing = append(missing, path)
	}
	for _, path := range slices.Backward(missing) {
		mode := parentMode
		if path == d.path {
			mode = directoryMode
		}
		switch err := os.Mkdir(path, mode); {
		case err == nil:
			d.made = append(d.made, path)
		case !errors.Is(err, fs.ErrExist):
			return err
		}
	}
	if len(d.made) > 0 && d.made[len(d.made)-1] != d.path {
		// Somebody else was quicker, and is going to use what is around it.
		d.made = nil
	}
	return nil
}

// acquire takes the lock.
func (d *Directory) acquire() (err error) {
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return fmt.Errorf("reading directory %s: %w", d.label, fileerror.Cause(err))
	}
	d.before = make(map[string]bool, len(entries))
	for _, entry := range entries {
		d.before[entry.Name()] = true
	}
	file := filepath.Join(d.path, LockFile)
	d.lock, err = filelock.Acquire(file)
	switch {
	case errors.Is(err, filelock.ErrHeld):
		return &InUseError{Label: d.label, Holder: readHolder(file)}
	case err != nil:
		return fmt.Errorf("locking directory %s: %w", d.label, fileerror.Cause(err))
	}
	return nil
}

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
	d.claimed = true
	return nil
}

// Close lets go of the directory. One that Open made and nobody claimed is removed.
func (d *Directory) Close() error {
	if d.claimed || len(d.made) == 0 {
		return errors.Join(d.lock.Truncate(0), filelock.Release(d.lock))
	}
	err := filelock.Remove(d.lock)
	d.unmake()
	return err
}

// Abandon is Close for a server that was never ready: if it was to be the first one in
// the directory, what is there of the files that it has put there is removed, and so is
// the directory if Open made it. What was there before stays.
func (d *Directory) Abandon(files ...string) error {
	if !d.fresh {
		return d.Close()
	}
	var errs []error
	for _, file := range append(files, filepath.Join(d.path, layoutFile)) {
		if filepath.Dir(file) != d.path || d.before[filepath.Base(file)] {
			continue
		}
		errs = append(errs, os.RemoveAll(file), os.RemoveAll(file+unfinished))
	}
	if d.before[LockFile] {
		errs = append(errs, d.lock.Truncate(0), filelock.Release(d.lock))
	} else {
		errs = append(errs, filelock.Remove(d.lock))
	}
	d.unmake()
	return errors.Join(errs...)
}

// unmake removes the directories that Open made. If somebody has put something into one
// meanwhile it stays.
func (d *Directory) unmake() {
	for _, path := range slices.Backward(d.made) {
		if os.Remove(path) != nil {
			return
		}
	}
}
