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
	running map[logicalcluster.Name]map[uint64]context.CancelFunc
	closed  bool
}

// NewConnections returns an empty set of connections.
func NewConnections() *Connections {
	return &Connections{running: map[logicalcluster.Name]map[uint64]context.CancelFunc{}}
}

// Cut ends the requests that run in cluster.
func (c *Connections) Cut(cluster logicalcluster.Name) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, cancel := range c.running[cluster] {
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
		cluster, hasCluster := logicalcluster.FromContext(r.Context())
		info, hasInfo := request.RequestInfoFrom(r.Context())
		if !hasCluster || !hasInfo || !isLongRunning(r, info) {
			next.ServeHTTP(w, r)
			return
		}
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		remove := connections.add(cluster, cancel)
		defer remove()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

func (c *Connections) add(cluster logicalcluster.Name, cancel context.CancelFunc) (remove func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		cancel()
	}
	c.next++
	id := c.next
	if c.running[cluster] == nil {
		c.running[cluster] = map[uint64]context.CancelFunc{}
	}
	c.running[cluster][id] = cancel
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.running[cluster], id)
		if len(c.running[cluster]) == 0 {
			delete(c.running, cluster)
		}
	}
}
