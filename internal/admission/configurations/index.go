package configurations

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// patience is how long a request waits for an Index that has not been told of all that
// exists, which is so for a moment after the start. It is upstream's.
const patience = 10 * time.Second

// ErrNotReady is returned where the Index has not been told of all that exists.
var ErrNotReady = errors.New("not yet ready to handle request")

// Index holds the configurations of all clusters. Its Listener is told of them by a
// controller.Feed, in the internal types that stores hold; they are not changed. All methods may be called concurrently.
type Index struct {
	// ctx ends with the Index, and all instances end with it.
	ctx   context.Context
	close context.CancelFunc
	// bound may be nil: nothing is bound then.
	bound Bound
	// synced is closed when everything that exists has been told, of all resources.
	synced chan struct{}

	mu       sync.RWMutex
	clusters map[logicalcluster.Name]*cluster
	// pending are the resources of which not everything has been told yet.
	pending int
	// kinds says how far it has been told of each resource.
	kinds [len(resources)]telling
}

// telling is how far an Index has been told of a resource.
type telling struct {
	// round counts how often it began.
	round int
	// synced is whether a round has been completed.
	synced bool
}

// cluster is what is known of a cluster that has configurations.
type cluster struct {
	objects     [len(resources)]map[string]object
	subscribers [len(resources)][]*subscription
	// instances are what has been made for the cluster, by what made them.
	instances map[*maker]*instance
}

type object struct {
	runtime.Object
	// round is when it was last told.
	round int
}

// NewIndex returns an Index that has been told nothing. bound may be nil.
func NewIndex(bound Bound) *Index {
	ctx, cancel := context.WithCancel(context.Background())
	return &Index{
		ctx: ctx, close: cancel, bound: bound,
		synced:   make(chan struct{}),
		clusters: map[logicalcluster.Name]*cluster{},
		pending:  len(resources),
	}
}

// Close ends all that has been made for clusters. It is for the end of the server.
func (x *Index) Close() { x.close() }

// Synced is closed when the Index has been told of all that exists.
func (x *Index) Synced() <-chan struct{} { return x.synced }

// Wait waits until the Index has been told of all that exists, but not for long: the
// error is ErrNotReady, or that of ctx.
func (x *Index) Wait(ctx context.Context) error {
	select {
	case <-x.synced:
		return nil
	default:
	}
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	select {
	case <-x.synced:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-timeout.C:
		return ErrNotReady
	}
}

// Get returns an object of a cluster as its store holds it.
func (x *Index) Get(cluster logicalcluster.Name, resource storage.Resource, name string) (runtime.Object, bool) {
	k := kindsOf([]storage.Resource{resource})[0]
	x.mu.RLock()
	defer x.mu.RUnlock()
	c, ok := x.clusters[cluster]
	if !ok {
		return nil, false
	}
	o, ok := c.objects[k][name]
	return o.Object, ok
}

// List returns the objects of a cluster as their store holds them, in no order.
func (x *Index) List(cluster logicalcluster.Name, resource storage.Resource) []runtime.Object {
	k := kindsOf([]storage.Resource{resource})[0]
	x.mu.RLock()
	defer x.mu.RUnlock()
	c, ok := x.clusters[cluster]
	if !ok {
		return nil
	}
	return c.list(k)
}

func (c *cluster) list(k kind) []runtime.Object {
	all := make([]runtime.Object, 0, len(c.objects[k]))
	for _, o := range c.objects[k] {
		all = append(all, o.Object)
	}
	return all
}

// has says whether the cluster has objects of one of the kinds.
func (c *cluster) has(kinds []kind) bool {
	return slices.ContainsFunc(kinds, func(k kind) bool { return len(c.objects[k]) > 0 })
}

// empty says whether nothing is known of the cluster.
func (c *cluster) empty() bool {
	for k := range c.objects {
		if len(c.objects[k]) > 0 || len(c.subscribers[k]) > 0 {
			return false
		}
	}
	return len(c.instances) == 0
}
