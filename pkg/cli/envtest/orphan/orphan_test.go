package orphan

import (
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"
)

func TestWatch(t *testing.T) {
	for name, c := range map[string]struct {
		reason    string
		directory string
		dies      bool
		stopped   bool
		ends      bool
		removed   bool
	}{
		"Killed":  {"a test that is killed leaves nothing", envtests + "1", true, false, true, true},
		"Stopped": {"what is stopped in order leaves its directory to who made it", envtests + "1", false, true, true, false},
		"Own":     {"a program in a directory of somebody's own may be left behind", "data", true, false, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			directory := filepath.Join(t.TempDir(), c.directory)
			if err := os.MkdirAll(filepath.Join(directory, "member"), 0o700); err != nil {
				t.Fatal(err)
			}
			var parent atomic.Int64
			parent.Store(7)
			stopping, stop := context.WithCancel(t.Context())
			defer stop()
			asked := make(chan struct{}, 1000)
			ctx, end := watch(stopping, directory, 0, func() int {
				asked <- struct{}{}
				return int(parent.Load())
			})
			if c.directory != "data" {
				<-asked // It knows its parent now.
			}
			if c.dies {
				parent.Store(1)
			}
			if c.stopped {
				stop()
			}
			if c.ends {
				select {
				case <-ctx.Done():
				case <-time.After(time.Minute):
					t.Fatal(c.reason)
				}
			} else if ctx != stopping {
				t.Errorf("%s: it is watched", c.reason)
			}
			if err := end(); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(directory); os.IsNotExist(err) != c.removed {
				t.Errorf("%s: %v", c.reason, err)
			}
		})
	}
}
