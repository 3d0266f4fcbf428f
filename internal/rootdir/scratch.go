package rootdir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/forkless/kcp/internal/filelock"
)

const (
	// scratchPrefix begins the names of all scratch directories and of their locks.
	scratchPrefix = "kcp-memory-"
	scratchLock   = ".lock"
)

// Scratch is a directory for what is to be gone when its process is. It lies in memory
// where the system has a file system there.
//
// What a killed process has left is removed by the next one: beside each directory is a
// file that its process has locked. It is there before the directory and goes after it.
type Scratch struct {
	path string
	lock *os.File
}

// NewScratch makes a scratch directory for this process, and removes those of processes
// that are gone.
func NewScratch() (*Scratch, error) {
	base := memoryBase()
	sweep(base)
	for {
		lock, err := os.CreateTemp(base, scratchPrefix+"*"+scratchLock)
		if err != nil {
			return nil, fmt.Errorf("making a directory in memory: %w", err)
		}
		// Who sweeps may have been quicker, and removed it.
		locked, err := filelock.Lock(lock)
		if err != nil && !errors.Is(err, filelock.ErrHeld) {
			return nil, fmt.Errorf("locking %s: %w", lock.Name(), err)
		}
		if !locked {
			continue
		}
		s := &Scratch{path: strings.TrimSuffix(lock.Name(), scratchLock), lock: lock}
		if err := os.Mkdir(s.path, directoryMode); err != nil {
			return nil, errors.Join(fmt.Errorf("making a directory in memory: %w", err), s.Remove())
		}
		return s, nil
	}
}

// Path returns the directory.
func (s *Scratch) Path() string { return s.path }

// Remove removes the directory with all that is in it.
func (s *Scratch) Remove() error {
	return errors.Join(os.RemoveAll(s.path), filelock.Remove(s.lock))
}

// SweepScratch removes the scratch directories of processes that are gone.
func SweepScratch() { sweep(memoryBase()) }

// sweep removes abandoned scratch directories from base. What cannot be removed, because it
// is another user's or because others are at it, is left to them.
func sweep(base string) {
	locks, _ := filepath.Glob(filepath.Join(base, scratchPrefix+"*"+scratchLock))
	for _, path := range locks {
		lock, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			continue
		}
		if locked, err := filelock.Lock(lock); err != nil || !locked {
			continue
		}
		_ = (&Scratch{path: strings.TrimSuffix(path, scratchLock), lock: lock}).Remove()
	}
}
