package kubeconfig

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"syscall"

	"github.com/forkless/kcp/pkg/cli/run"
)

// lockSuffix makes the name of a lock file, as kubectl makes it.
const lockSuffix = ".lock"

// lock takes the locks of all files that make up the kubeconfig, in the order in
// which kubectl takes them, so that the two cannot wait for each other forever.
func (s *Store) lock(ctx context.Context) (unlock func(), err error) {
	var held []string
	unlock = func() {
		for _, name := range held {
			_ = os.Remove(name)
		}
	}
	files := slices.Clone(s.access.GetLoadingPrecedence())
	slices.Sort(files)
	for _, file := range slices.Compact(files) {
		taken, err := s.lockFile(ctx, file)
		if err != nil {
			unlock()
			return nil, err
		}
		if taken {
			held = append(held, file+lockSuffix)
		}
	}
	return unlock, nil
}

// lockFile takes the lock of one file. taken is false for a file that nobody can
// change: it does not exist, or its directory is read-only. If such a file is to be
// changed after all, writing says what is wrong.
func (s *Store) lockFile(ctx context.Context, file string) (taken bool, err error) {
	name := file + lockSuffix
	for range s.tries {
		// Nobody reads the lock file; kubectl makes it without any permission, too.
		lock, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL, 0)
		switch {
		case err == nil:
			return true, lock.Close()
		case errors.Is(err, fs.ErrExist):
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
			return false, nil
		default:
			return false, fmt.Errorf("locking the kubeconfig: %w", err)
		}
		if err := s.pause(ctx); err != nil {
			return false, fmt.Errorf("waiting for %s to be released: %w", name, err)
		}
	}
	return false, run.Hint(
		fmt.Errorf("the kubeconfig is locked: %s still exists after %s", name, lockPatience),
		"if no other kubectl is running, something that has crashed left it behind: rm "+name)
}
