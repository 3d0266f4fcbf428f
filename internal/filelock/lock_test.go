package filelock

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
)

func TestOneHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	if _, err := Held(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	file, err := Acquire(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Acquire(path); !errors.Is(err, ErrHeld) {
		t.Errorf("a second holder: %v", err)
	}
	if held, err := Held(path); !held || err != nil {
		t.Errorf("a locked file is held: %t, %v", held, err)
	}
	if err := Release(file); err != nil {
		t.Fatal(err)
	}
	if held, err := Held(path); held || err != nil {
		t.Errorf("a released file is held: %t, %v", held, err)
	}
}

// TestRemovedMeanwhile: nobody gets a lock on a file that others cannot find.
func TestRemovedMeanwhile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	opened, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		t.Fatal(err)
	}
	first, err := Acquire(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := Remove(first); err != nil {
		t.Fatal(err)
	}
	if locked, err := Lock(opened); locked || err != nil {
		t.Errorf("the lock of a file that has gone: %t, %v", locked, err)
	}
}

// TestManyAtOnce: with files that come and go there is one holder at a time.
func TestManyAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	var holders sync.Mutex
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			for {
				file, err := Acquire(path)
				if errors.Is(err, ErrHeld) {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				if !holders.TryLock() {
					t.Error("there are two holders")
				} else {
					runtime.Gosched()
					holders.Unlock()
				}
				if err := Remove(file); err != nil {
					t.Error(err)
				}
				return
			}
		})
	}
	all.Wait()
}

// TestAsking: who only asks is in nobody's way, neither of those who ask nor of those who
// want to have the lock.
func TestAsking(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	if err := os.WriteFile(path, nil, fileMode); err != nil {
		t.Fatal(err)
	}
	const times = 2000
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			for range times {
				if held, err := Held(path); held || err != nil {
					t.Errorf("nobody has it, and it is held: %t, %v", held, err)
					return
				}
			}
		})
	}
	all.Wait()
	for range 3 {
		all.Go(func() {
			for range times {
				_, _ = Held(path)
			}
		})
	}
	all.Go(func() {
		for range times {
			file, err := Acquire(path)
			if err != nil {
				t.Errorf("others only ask, and it cannot be had: %v", err)
				return
			}
			if err := Release(file); err != nil {
				t.Error(err)
			}
		}
	})
	all.Wait()
}
