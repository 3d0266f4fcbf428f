// Package place replaces a file as a whole: what is written lies beside it until it is
// complete, and takes its place then.
//
//  1. A link stays a link; the file that it leads to is replaced, or made.
//  2. Whoever else looks finds the old content or the new one.
//  3. What a process has left that was killed meanwhile goes when the next one writes to the
//     same place, or when somebody sweeps it. It is known by its name and by its lock, which
//     ends with its process. Where a file system has no locks it stays.
package place

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/forkless/kcp/internal/filelock"
)

const (
	// suffix ends the names of files that are being written; their place and something that
	// nobody else has come before it.
	suffix = ".kcp-unfinished"
	// mostOfName is how much of the name of their place they have, in bytes.
	mostOfName = 200
	// mostLinks is how many links are followed.
	mostLinks = 40
)

// Of returns the absolute path of the file that is written when file is named: where a link
// leads to, even if there is nothing yet.
func Of(file string) (string, error) {
	place, err := filepath.Abs(file)
	if err != nil {
		return "", err
	}
	for range mostLinks {
		target := linkAt(place)
		if target == "" {
			return place, nil
		}
		if !filepath.IsAbs(target) {
			// The folder may be a link itself, which ".." in the target does not see.
			folder, err := filepath.EvalSymlinks(filepath.Dir(place))
			if err != nil {
				return "", err
			}
			target = filepath.Join(folder, target)
		}
		place = target
	}
	return "", fmt.Errorf("%s: too many links", file)
}

// linkAt returns where the link at path leads to; nothing if it is none, or is not there. What
// is wrong beyond that is found out by those who write.
func linkAt(path string) string {
	target, err := os.Readlink(path)
	if err != nil {
		return ""
	}
	return target
}

// File is new content for a place.
type File struct {
	*os.File
	place  string
	locked bool
	done   bool
}

// Open begins new content for the place that Of has returned, and removes what those have
// left beside it that were killed.
func Open(place string) (*File, error) {
	Sweep(place)
	for {
		file, err := os.CreateTemp(filepath.Dir(place), prefix(place)+"*"+suffix)
		if err != nil {
			return nil, err
		}
		// Who sweeps may have been quicker, and removed it.
		locked, err := filelock.Lock(file)
		if err != nil && !errors.Is(err, filelock.ErrHeld) {
			// There are no locks here, so that nobody sweeps it either.
			name := file.Name()
			if file, err = os.OpenFile(name, os.O_RDWR, 0); err != nil {
				return nil, errors.Join(err, os.Remove(name))
			}
			return &File{File: file, place: place}, nil
		}
		if locked {
			return &File{File: file, place: place, locked: true}, nil
		}
	}
}

// Commit puts the content into its place, where it is even if the machine loses power
// right after it.
func (f *File) Commit() error {
	if err := f.Sync(); err != nil {
		return err
	}
	if runtime.GOOS == "windows" {
		// Files that are open are not renamed there.
		if err := f.Close(); err != nil {
			return err
		}
	}
	if err := os.Rename(f.Name(), f.place); err != nil {
		return err
	}
	f.done = true
	if runtime.GOOS == "windows" {
		return nil
	}
	return errors.Join(keepNames(filepath.Dir(f.place)), f.Close())
}

// keepNames has the names in a directory written to the disk, where the directory can be read
// and the file system can be asked to.
func keepNames(directory string) error {
	opened, err := os.Open(directory)
	if err != nil {
		return nil //nolint:nilerr // because who may write to it need not be allowed to read it
	}
	err = opened.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		err = nil
	}
	return errors.Join(err, opened.Close())
}

// Discard removes the content, unless it is in its place.
func (f *File) Discard() {
	if f.done {
		return
	}
	if f.locked && filelock.Remove(f.File) == nil {
		return
	}
	_ = f.Close()
	_ = os.Remove(f.Name())
}

// prefix begins the names of files that are being written for a place. Names of files have
// 255 bytes at the most, of which that of the place may need all.
func prefix(place string) string {
	base := filepath.Base(place)
	return "." + base[:min(len(base), mostOfName)] + "-"
}

// isUnfinished says whether a file of that name is being written for a place, and not for one
// whose name begins with that of this one.
func isUnfinished(name, place string) bool {
	rest, ours := strings.CutPrefix(name, prefix(place))
	unique, unfinished := strings.CutSuffix(rest, suffix)
	return ours && unfinished && strings.Trim(unique, "0123456789") == ""
}

// Sweep removes what processes have left that were killed while they wrote to a place, and
// says whether nothing is being written there.
func Sweep(place string) (gone bool) {
	gone = true
	entries, err := os.ReadDir(filepath.Dir(place))
	if err != nil {
		return true
	}
	for _, e := range entries {
		if !isUnfinished(e.Name(), place) || !e.Type().IsRegular() {
			continue
		}
		file, err := os.OpenFile(filepath.Join(filepath.Dir(place), e.Name()), os.O_RDWR, 0)
		if err != nil {
			gone = gone && errors.Is(err, fs.ErrNotExist)
			continue
		}
		locked, err := filelock.Lock(file)
		if errors.Is(err, filelock.ErrHeld) {
			gone = false
		}
		if locked {
			_ = filelock.Remove(file)
		}
	}
	return gone
}
