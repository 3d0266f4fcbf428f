package openapi

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

func newTestCache(limit int) *cache[string] {
	return newCache(limit, func(s string) int { return len(s) })
}

func TestCacheForgetsWhatWasNotUsed(t *testing.T) {
	c := newTestCache(10)
	builds := map[string]int{}
	use := func(key string, weight int) {
		t.Helper()
		_, err := c.get(key, func() (string, error) {
			builds[key]++
			return strings.Repeat("x", weight), nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	use("a", 4)
	use("b", 4)
	use("a", 4)
	use("c", 4) // too much: b was used longest ago
	use("a", 4)
	use("b", 4)
	if builds["a"] != 1 || builds["b"] != 2 || builds["c"] != 1 {
		t.Errorf("what was used last is kept, what was used longest ago is not: built %v", builds)
	}

	use("heavy", 100)
	use("heavy", 100)
	if builds["heavy"] != 1 {
		t.Errorf("a value that is too heavy by itself is kept until the next one comes: built %d times", builds["heavy"])
	}
	use("a", 4)
	if c.weight > c.limit || c.order.Len() != len(c.entries) {
		t.Errorf("the cache weighs %d with a limit of %d, and has %d entries in a list of %d", c.weight, c.limit, len(c.entries), c.order.Len())
	}
}

func TestCacheKeepsNoErrors(t *testing.T) {
	c := newTestCache(10)
	failure := errors.New("not now")
	if _, err := c.get("a", func() (string, error) { return "", failure }); !errors.Is(err, failure) {
		t.Errorf("got error %v, want %v", err, failure)
	}
	if _, err := c.get("a", func() (string, error) { panic("bad schema") }); err == nil || !strings.Contains(err.Error(), "bad schema") {
		t.Errorf("a panic while building must become an error, or one schema ends the program: got %v", err)
	}
	if got, err := c.get("a", func() (string, error) { return "good", nil }); err != nil || got != "good" {
		t.Errorf("after an error the value is built anew: got %q, %v", got, err)
	}
}

func TestCacheBuildsOnce(t *testing.T) {
	c := newTestCache(10)
	var builds atomic.Int32
	release := make(chan struct{})
	var readers sync.WaitGroup
	for range 8 {
		readers.Go(func() {
			got, err := c.get("a", func() (string, error) {
				builds.Add(1)
				<-release
				return "good", nil
			})
			if err != nil || got != "good" {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
	close(release)
	readers.Wait()
	if n := builds.Load(); n != 1 {
		t.Errorf("built %d times for 8 clients at once", n)
	}
}
