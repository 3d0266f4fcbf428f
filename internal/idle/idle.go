// Package idle knows for how long a server has not been used.
//
// What uses it are requests, for as long as they last, so that a watch counts until it
// ends. Those that look after a server, whether it is well and what it has done, do not:
// they never stop.
package idle

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// Use is the use of a server.
type Use struct {
	clock clock.Clock

	mu sync.Mutex
	// active is how many requests there are, since when there has been none is last.
	active int
	last   time.Time
}

// NewUse returns the use of a server that begins now.
func NewUse(c clock.Clock) *Use { return &Use{clock: c, last: c.Now()} }

// With counts the requests that handler serves.
func (u *Use) With(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isCare(r.URL.Path) {
			handler.ServeHTTP(w, r)
			return
		}
		u.begin()
		// Handlers panic to cut connections.
		defer u.end()
		handler.ServeHTTP(w, r)
	})
}

// isCare says whether a request looks after the server and does not use it.
func isCare(path string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	switch first {
	case "livez", "readyz", "healthz", "metrics":
		return true
	default:
		return false
	}
}

func (u *Use) begin() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.active++
}

func (u *Use) end() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.active--
	u.last = u.clock.Now()
}

// left returns how long it takes at least until there has been no request for limit.
func (u *Use) left(limit time.Duration) time.Duration {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.active > 0 {
		return limit
	}
	return limit - u.clock.Since(u.last)
}

// Ended waits until there has been no request for limit, beginning now. It returns false
// if ctx ends before.
func (u *Use) Ended(ctx context.Context, limit time.Duration) bool {
	u.mu.Lock()
	u.last = u.clock.Now()
	u.mu.Unlock()
	for {
		left := u.left(limit)
		if left <= 0 {
			return true
		}
		select {
		case <-u.clock.After(left):
		case <-ctx.Done():
			return false
		}
	}
}
