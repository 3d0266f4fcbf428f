package garbagecollector

import (
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// events are never collected: they expire, and there are many.
var events = storage.Resource{GroupResource: schema.GroupResource{Resource: "events"}}

// Graph remembers who owns whom, in all clusters, and says which objects the controller
// has to look at. Its methods may be called concurrently.
type Graph struct {
	progress *Progress
	// enqueue makes the controller look at an object. It must not call the graph.
	enqueue func(controller.Key)

	mu    sync.RWMutex
	nodes map[nodeKey]*node
	// recent are objects that have gone and were in nobody's way.
	recent recent
	// parked are the objects held back in each cluster, see park.
	parked map[logicalcluster.Name]map[*node]struct{}
}

var _ controller.Listener = (*Graph)(nil)

// NewGraph returns an empty graph. lastWrite returns the version of the last write to a
// resource; enqueue makes the controller look at an object.
func NewGraph(lastWrite func(storage.Resource) uint64, enqueue func(controller.Key)) *Graph {
	return &Graph{
		progress: newProgress(lastWrite),
		enqueue:  enqueue,
		nodes:    map[nodeKey]*node{},
		parked:   map[logicalcluster.Name]map[*node]struct{}{},
	}
}

// Began implements controller.Listener.
func (g *Graph) Began(resource storage.Resource) { g.progress.began(resource) }

// Changed implements controller.Listener.
func (g *Graph) Changed(resource storage.Resource, obj runtime.Object) {
	if resource == events {
		return
	}
	if o, ok := observe(obj); ok {
		g.changed(resource, o)
		g.progress.told(resource, o.version)
	}
}

// Gone implements controller.Listener.
func (g *Graph) Gone(resource storage.Resource, obj runtime.Object) {
	if resource == events {
		return
	}
	if o, ok := observe(obj); ok {
		g.gone(resource, o)
		g.progress.told(resource, o.version)
	}
}

// Synced implements controller.Listener.
func (g *Graph) Synced(resource storage.Resource) {
	g.sweep(resource)
	g.progress.synced(resource)
}

// Closed implements controller.Listener. What is remembered stays: a store is closed for
// good after its last object has gone, and otherwise opened again and all told anew.
func (g *Graph) Closed(resource storage.Resource) { g.progress.closed(resource) }

func (g *Graph) changed(resource storage.Resource, o observed) {
	if !o.remembered() && !g.knows(o.key) {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	n := g.nodes[o.key]
	if n == nil {
		if !o.remembered() {
			return
		}
		n = &node{key: o.key}
		g.nodes[o.key] = n
	}
	returned, before := n.state == absent, n.phase
	n.place, n.state, n.round, n.phase = o.place(resource), present, g.progress.round(resource), o.phase
	added, released := n.setOwners(o.references(), g.ownerIn(o.key))
	g.release(released)

	switch {
	case n.phase != before && n.phase == orphaning:
		g.look(n)
	case n.phase != before && n.phase == foreground:
		g.lookAtDependents(n)
		g.look(n)
	case n.phase == staying && added:
		g.look(n)
	}
	if returned {
		// It was restored: what was decided while it was away is looked at again.
		g.lookAtDependents(n)
	}
	g.forgetIdle(n)
}

func (g *Graph) gone(resource storage.Resource, o observed) {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := g.nodes[o.key]
	if n == nil {
		g.recent.add(o.key, o.place(resource))
		return
	}
	n.place = o.place(resource)
	g.remove(n)
}

// remove notes that n is gone. The caller holds the lock.
func (g *Graph) remove(n *node) {
	_, released := n.setOwners(nil, nil)
	n.state, n.phase = absent, staying
	g.unpark(n)
	g.release(released)
	g.lookAtDependents(n)
	g.forgetIdle(n)
}

// sweep removes the objects of a resource that were not among those just told.
func (g *Graph) sweep(resource storage.Resource) {
	round := g.progress.round(resource)
	if round <= 1 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, n := range g.nodes {
		if n.state == present && n.round != round && n.place.resource.Value() == resource {
			g.remove(n)
		}
	}
}

// ownerIn returns a function that returns the node of an owner of the object with key.
// The caller holds the lock.
func (g *Graph) ownerIn(key nodeKey) func(uid) *node {
	return func(owner uid) *node {
		key.uid = owner
		n := g.nodes[key]
		if n == nil {
			n = &node{key: key}
			if at, gone := g.recent.places[key]; gone {
				n.state, n.place = absent, at
			}
			g.nodes[key] = n
		}
		return n
	}
}

// release looks at owners that a dependent has let go of. The caller holds the lock.
func (g *Graph) release(owners []*node) {
	for _, owner := range owners {
		if owner.phase == foreground && owner.blocking == 0 {
			g.look(owner)
		}
		g.forgetIdle(owner)
	}
}

func (g *Graph) look(n *node) { g.enqueue(n.key.queued()) }

func (g *Graph) lookAtDependents(n *node) {
	for dependent := range n.dependents {
		g.look(dependent)
	}
}

// forgetIdle forgets n if there is nothing to remember. The caller holds the lock.
func (g *Graph) forgetIdle(n *node) {
	if n.idle() {
		g.unpark(n)
		delete(g.nodes, n.key)
	}
}

func (g *Graph) knows(key nodeKey) bool {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.nodes[key] != nil
}
