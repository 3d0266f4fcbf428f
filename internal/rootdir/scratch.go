package rootdir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/forkless/kcp/internal/filelock"
)

const (
	// memoryPrefix and temporaryPrefix begin the names of scratch directories and of their
	// locks: of those in memory, and of those that may be larger than that.
	memoryPrefix    = "kcp-memory-"
	temporaryPrefix = "kcp-run-"
	scratchLock     = ".lock"
)

// Scratch is a directory for what is to be gone when its process is.
//
// What a killed process has left is removed by the next one: beside each directory is a
// file that its process has locked, with its number in it. It is there before the directory
// and goes after it.
type Scratch struct {
	path string
	lock *os.File
}

// NewScratch makes a scratch directory for this process, in memory where the system has a
// file system there, and removes those of processes that are gone.
func NewScratch() (*Scratch, error) {
	SweepScratch()
	s, err := newScratch(memoryBase(), memoryPrefix)
	if err != nil {
		return nil, fmt.Errorf("making a directory in memory: %w", err)
	}
	return s, nil
}

// NewTemporary is NewScratch in the folder for temporary files, for what may be large.
func NewTemporary() (*Scratch, error) {
	SweepScratch()
	s, err := newScratch(os.TempDir(), temporaryPrefix)
	if err != nil {
		return nil, fmt.Errorf("making a temporary directory: %w", err)
	}
	return s, nil
}

func newScratch(base, prefix string) (*Scratch, error) {
	for {
		lock, err := os.CreateTemp(base, prefix+"*"+scratchLock)
		if err != nil {
			return nil, err
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
		if _, err := lock.WriteString(strconv.Itoa(os.Getpid())); err != nil {
			return nil, errors.Join(err, s.Remove())
		}
		if err := os.Mkdir(s.path, directoryMode); err != nil {
			return nil, errors.Join(err, s.Remove())
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
func SweepScratch() { _ = SweepScratchOf(0) }

// SweepScratchOf removes the scratch directories of processes that are gone, and says
// whether that is all there was of the process pid. It is not while that process is there,
// nor while the system is still closing its files.
func SweepScratchOf(pid int) (gone bool) {
	gone = true
	for _, base := range scratchBases() {
		for _, prefix := range []string{memoryPrefix, temporaryPrefix} {
			gone = sweep(base, prefix, pid) && gone
		}
	}
	return gone
}

// scratchBases returns the folders in which there may be scratch directories, whether there
// is room for another one or not.
func scratchBases() []string {
	bases := append([]string{os.TempDir()}, memoryFolders...)
	slices.Sort(bases)
	return slices.Compact(bases)
}

// sweep removes abandoned scratch directories from base, and says whether none is left of
// the process pid. What cannot be removed, because it is another user's or because others
// are at it, is left to them.
func sweep(base, prefix string, pid int) (gone bool) {
	gone = true
	locks, _ := filepath.Glob(filepath.Join(base, prefix+"*"+scratchLock))
	for _, path := range locks {
		lock, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			continue
		}
		holder := holderOf(lock)
		locked, err := filelock.Lock(lock)
		if errors.Is(err, filelock.ErrHeld) && (holder == "" || holder == strconv.Itoa(pid)) {
			gone = false
		}
		if !locked {
			continue
		}
		_ = (&Scratch{path: strings.TrimSuffix(path, scratchLock), lock: lock}).Remove()
	}
	return gone
}

// holderOf returns the number of the process that has a lock, empty if the lock has only just
// been made.
func holderOf(lock *os.File) string {
	content := make([]byte, 20)
	n, _ := lock.ReadAt(content, 0)
	return string(content[:n])
}
