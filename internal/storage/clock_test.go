package storage

import (
	"testing"
	"time"
)

// isOver says whether a wait is over within a generous time.
func isOver(wait <-chan time.Time) bool {
	select {
	case <-wait:
		return true
	case <-time.After(time.Minute):
		return false
	}
}

func TestLayerClock(t *testing.T) {
	c := newLayerClock()
	if !isOver(c.After(time.Nanosecond)) {
		t.Error("a wait does not end by itself")
	}
	long := c.After(time.Hour)
	select {
	case <-long:
		t.Error("a long wait has ended at once")
	default:
	}
	c.stop()
	if !isOver(long) {
		t.Error("a wait goes on although the clock has stopped")
	}
	if !isOver(c.After(time.Hour)) {
		t.Error("a wait begins although the clock has stopped")
	}
	if len(c.waits) != 0 {
		t.Errorf("%d waits are remembered that are over", len(c.waits))
	}
}
