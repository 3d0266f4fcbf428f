package server

import (
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// hangUpPoll is how often to look whether requests are under way when the server stops.
const hangUpPoll = 2 * time.Millisecond

// callers knows who is connected to a server, to hang up on them when it stops.
//
// HTTP/2 takes a second to end a connection that nobody uses, so that its client hears of
// it. Where the data is in memory, and gone a moment later, there is nothing to come back
// for, and tests and commands that run such a server would only be slower by that second.
type callers struct {
	net.Listener

	requests atomic.Int64

	mu          sync.Mutex
	connections map[*connection]struct{}
}

// connection is one of a caller.
type connection struct {
	net.Conn
	of *callers
}

func newCallers(listener net.Listener) *callers {
	return &callers{Listener: listener, connections: map[*connection]struct{}{}}
}

// Accept implements net.Listener.
func (c *callers) Accept() (net.Conn, error) {
	accepted, err := c.Listener.Accept()
	if err != nil {
		return nil, err
	}
	connected := &connection{Conn: accepted, of: c}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.connections[connected] = struct{}{}
	return connected, nil
}

// Close implements net.Conn.
func (c *connection) Close() error {
	c.of.mu.Lock()
	delete(c.of.connections, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// with counts the requests that are under way.
func (c *callers) with(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.requests.Add(1)
		defer c.requests.Add(-1)
		handler.ServeHTTP(w, r)
	})
}

// hangUp closes the connections when there are no requests under way any more, until ctx
// ends. What was answered meanwhile is on its way: it looks twice.
func (c *callers) hangUp(ctx context.Context) {
	ticker := time.NewTicker(hangUpPoll)
	defer ticker.Stop()
	for idle := 0; ; idle++ {
		if c.requests.Load() > 0 {
			idle = 0
		}
		if idle >= 2 {
			c.closeAll()
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

func (c *callers) closeAll() {
	c.mu.Lock()
	var all []net.Conn
	for connected := range c.connections {
		all = append(all, connected.Conn)
	}
	c.mu.Unlock()
	for _, connected := range all {
		// Who serves it finds out, and closes it again.
		_ = connected.Close()
	}
}
