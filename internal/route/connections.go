package route

import (
	"context"
	"net/http"
	"sync"

	"k8s.io/apiserver/pkg/endpoints/request"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Connections knows the requests that run for long (watches) by the cluster they are
// to, so that they can be cut when the cluster goes offline. A cluster without such
// requests takes no room.
type Connections struct {
	mu      sync.Mutex
	next    uint64
	running map[place]map[uint64]context.CancelFunc
	closed  bool
}

// place is where a request runs: in a cluster, or in what is mounted as a workspace of it.
type place struct {
	cluster logicalcluster.Name
	mounted string
}

// placeOf returns where the request of ctx runs.
func placeOf(ctx context.Context) (place, bool) {
	if mount, ok := MountFrom(ctx); ok {
		return place{mount.Parent, mount.Workspace}, true
	}
	cluster, ok := logicalcluster.FromContext(ctx)
	return place{cluster: cluster}, ok
}

// NewConnections returns an empty set of connections.
func NewConnections() *Connections {
	return &Connections{running: map[place]map[uint64]context.CancelFunc{}}
}

// Cut ends the requests that run in cluster.
func (c *Connections) Cut(cluster logicalcluster.Name) { c.cut(place{cluster: cluster}) }

// CutMount ends the requests that run in what is mounted as a workspace of parent.
func (c *Connections) CutMount(parent logicalcluster.Name, workspace string) {
	c.cut(place{parent, workspace})
}

func (c *Connections) cut(at place) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, cancel := range c.running[at] {
		cancel()
	}
}

// Close ends all requests that run, and those that begin later at once. The server would
// not stop before its last watch does otherwise, which may be in an hour.
func (c *Connections) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for _, running := range c.running {
		for _, cancel := range running {
			cancel()
		}
	}
}

// WithConnections makes long-running requests known to connections.
func WithConnections(next http.Handler, connections *Connections, isLongRunning request.LongRunningRequestCheck) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		at, hasPlace := placeOf(r.Context())
		info, hasInfo := request.RequestInfoFrom(r.Context())
		if !hasPlace || !hasInfo || !isLongRunning(r, info) {
			next.ServeHTTP(w, r)
			return
		}
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		remove := connections.add(at, cancel)
		defer remove()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

func (c *Connections) add(at place, cancel context.CancelFunc) (remove func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		cancel()
	}
	c.next++
	id := c.next
	if c.running[at] == nil {
		c.running[at] = map[uint64]context.CancelFunc{}
	}
	c.running[at][id] = cancel
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.running[at], id)
		if len(c.running[at]) == 0 {
			delete(c.running, at)
		}
	}
}
