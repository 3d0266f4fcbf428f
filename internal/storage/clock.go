package storage

import (
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// layerClock is the clock of the watch caches of a Layer. Waits that have not ended when it
// is stopped end then: for each read that has to be of a certain revision, upstream leaves
// a goroutine that waits for three seconds, although the read takes less than one
// millisecond, and would keep the watch cache with all that is in it for so long.
type layerClock struct {
	clock.RealClock

	mu      sync.Mutex
	stopped bool
	waits   map[*clockWait]struct{}
}

type clockWait struct {
	// over is closed when the wait is.
	over  chan time.Time
	timer *time.Timer
}

func newLayerClock() *layerClock {
	return &layerClock{waits: map[*clockWait]struct{}{}}
}

// After implements clock.Clock. What the channel says when it is over is no time, for which
// nobody asks.
func (c *layerClock) After(d time.Duration) <-chan time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := &clockWait{over: make(chan time.Time)}
	if c.stopped {
		close(w.over)
		return w.over
	}
	c.waits[w] = struct{}{}
	w.timer = time.AfterFunc(d, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.end(w)
	})
	return w.over
}

// stop ends all waits, and those that would begin.
func (c *layerClock) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = true
	for w := range c.waits {
		w.timer.Stop()
		c.end(w)
	}
}

// end ends a wait, unless it is over. The caller holds the lock.
func (c *layerClock) end(w *clockWait) {
	if _, ok := c.waits[w]; ok {
		delete(c.waits, w)
		close(w.over)
	}
}
