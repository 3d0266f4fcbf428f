package rootdir

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// abandonIn makes a process leave a scratch directory, whose path it prints.
const abandonIn = "KCP_TEST_ABANDON_SCRATCH"

// abandon leaves a scratch directory, as a process does that is killed.
func abandon() {
	s, err := NewScratch()
	if err != nil {
		panic(err)
	}
	_, _ = os.Stdout.WriteString(s.Path())
}

func TestScratchOfAKilledProcessIsSwept(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), abandonIn+"=yes")
	path, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(string(path), "left"), nil, 0o600); err != nil {
		t.Fatalf("the process should have left a directory: %v", err)
	}
	SweepScratch()
	for _, left := range []string{string(path), string(path) + scratchLock} {
		if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there: %v", left, err)
		}
	}
}

func TestScratchIsKeptWhileItsProcessLives(t *testing.T) {
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			s, err := NewScratch()
			if err != nil {
				t.Error(err)
				return
			}
			SweepScratch()
			if err := os.WriteFile(filepath.Join(s.Path(), "file"), nil, 0o600); err != nil {
				t.Errorf("swept while in use: %v", err)
			}
			if err := s.Remove(); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(s.Path()); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s is still there: %v", s.Path(), err)
			}
		})
	}
	all.Wait()
}
