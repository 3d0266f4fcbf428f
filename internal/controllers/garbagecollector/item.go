package garbagecollector

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// item is what the graph knows of an object at one moment.
type item struct {
	cluster logicalcluster.Name
	uid     uid
	location
	state state
	phase phase
	// owned says whether it has owner references.
	owned bool
	// dependents says whether it has dependents, circular whether one of them waits for
	// its own dependents, and blocked whether one blocks it.
	dependents, circular, blocked bool
}

// location is a place in plain words.
type location struct {
	resource              storage.Resource
	kind, namespace, name string
}

func (p place) location() location {
	if p == (place{}) {
		return location{}
	}
	l := location{resource: p.resource.Value(), namespace: p.namespace.Value(), name: p.name}
	if p.kind != (place{}).kind {
		l.kind = p.kind.Value()
	}
	return l
}

// item returns what is known of the object with the key.
func (g *Graph) item(key controller.Key) (item, bool) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	n := g.nodes[dequeued(key)]
	if n == nil {
		return item{}, false
	}
	i := n.item()
	for dependent := range n.dependents {
		if dependent.phase == foreground {
			i.circular = true
			break
		}
	}
	return i, true
}

func (n *node) item() item {
	return item{
		cluster: n.key.cluster.Value(), uid: n.key.uid, location: n.place.location(), state: n.state, phase: n.phase,
		owned: len(n.owners) > 0, dependents: len(n.dependents) > 0, blocked: n.blocking > 0,
	}
}

// owner returns what is known of the owner with a UID in a cluster.
func (g *Graph) owner(cluster logicalcluster.Name, text types.UID) item {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if n := g.nodes[keyOf(cluster, text)]; n != nil {
		return n.item()
	}
	return item{}
}

// dependents returns the objects that refer to the one with the key.
func (g *Graph) dependents(key controller.Key) []item {
	g.mu.RLock()
	defer g.mu.RUnlock()
	n := g.nodes[dequeued(key)]
	if n == nil {
		return nil
	}
	all := make([]item, 0, len(n.dependents))
	for dependent := range n.dependents {
		all = append(all, dependent.item())
	}
	return all
}

// found notes that an owner nobody had heard of exists. It was read in a round of its
// resource: if that is over, it may have gone without anybody telling, and is to be read
// again.
func (g *Graph) found(cluster logicalcluster.Name, text types.UID, at place, round uint32) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if round != g.progress.round(at.resource.Value()) {
		return errGap
	}
	if n := g.nodes[keyOf(cluster, text)]; n != nil && n.state != present {
		n.state, n.place, n.round = present, at, round
	}
	return nil
}

// missed notes that an owner nobody had heard of does not exist where it was looked for.
func (g *Graph) missed(cluster logicalcluster.Name, text types.UID, at place) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if n := g.nodes[keyOf(cluster, text)]; n != nil && n.state == unknown {
		n.state, n.place = absent, at
	}
}

// lookAtBlocking makes the controller look at the dependents that block the object with
// the key.
func (g *Graph) lookAtBlocking(key controller.Key) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	n := g.nodes[dequeued(key)]
	if n == nil {
		return
	}
	for dependent := range n.dependents {
		if l, found := find(dependent.owners, n.key.uid); found && l.blocks && dependent.phase != foreground {
			g.look(dependent)
		}
	}
}

// park holds an object back until KindsChanged is called for its cluster.
func (g *Graph) park(key controller.Key) {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := g.nodes[dequeued(key)]
	if n == nil || n.parked {
		return
	}
	n.parked = true
	if g.parked[key.Cluster] == nil {
		g.parked[key.Cluster] = map[*node]struct{}{}
	}
	g.parked[key.Cluster][n] = struct{}{}
}

// unpark forgets that n is held back. The caller holds the lock.
func (g *Graph) unpark(n *node) {
	if !n.parked {
		return
	}
	n.parked = false
	cluster := n.key.cluster.Value()
	delete(g.parked[cluster], n)
	if len(g.parked[cluster]) == 0 {
		delete(g.parked, cluster)
	}
}

// KindsChanged makes the controller look again at the objects of a cluster that have
// owners of kinds it did not know.
func (g *Graph) KindsChanged(cluster logicalcluster.Name) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for n := range g.parked[cluster] {
		n.parked = false
		g.look(n)
	}
	delete(g.parked, cluster)
}

// Size returns how many objects are remembered.
func (g *Graph) Size() int {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return len(g.nodes)
}
