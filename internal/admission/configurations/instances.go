package configurations

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

const (
	// mostInstances is how many instances there may be before those that nobody uses
	// make room for others. Upstream's plugins take half a megabyte each, for the
	// environments of CEL, and some milliseconds to be made anew.
	mostInstances = 50
	// unusedAfter is how long an instance has not been used then. No request that it
	// serves takes as long.
	unusedAfter = 5 * time.Minute
)

// Make makes what a cluster needs to have its configurations heeded. ctx ends when the
// cluster has none any more; everything that belongs to the instance has to end then.
type Make[T any] func(ctx context.Context, cluster logicalcluster.Name) (T, error)

// Instances are the T of those clusters that have configurations and have needed one.
type Instances[T any] struct {
	index *Index
	maker *maker
	make  Make[T]
}

// maker is what instances of one kind have in common.
type maker struct {
	// needed are the kinds of configurations that the instances are made for.
	needed []kind
	most   int
	now    func() time.Time

	// places are the clusters that have an instance. They are held under the lock of
	// the Index.
	places map[logicalcluster.Name]*instance
}

// instance is made outside of all locks, by whoever needs it first.
type instance struct {
	make  func()
	value any
	err   error
	end   context.CancelFunc
	// used is when it was last asked for, in nanoseconds.
	used atomic.Int64
}

// NewInstances returns Instances for clusters that have configurations of one of the
// needed resources.
func NewInstances[T any](index *Index, mk Make[T], needed ...storage.Resource) *Instances[T] {
	return &Instances[T]{index: index, make: mk, maker: &maker{
		needed: kindsOf(needed), most: mostInstances, now: time.Now, places: map[logicalcluster.Name]*instance{},
	}}
}

// Get returns the instance of a cluster; ok is false if the cluster has no
// configurations. It may take a while after the start, until what exists is known. An
// instance that could not be made is made anew when it is needed again.
func (i *Instances[T]) Get(ctx context.Context, place logicalcluster.Name) (value T, ok bool, err error) {
	if err := i.index.Wait(ctx); err != nil {
		return value, false, err
	}
	found := i.find(place)
	if found == nil {
		return value, false, nil
	}
	found.used.Store(i.maker.now().UnixNano())
	found.make()
	if found.err != nil {
		i.index.forget(i.maker, place, found)
		return value, false, fmt.Errorf("preparing the admission of %s: %w", place, found.err)
	}
	return found.value.(T), true, nil
}

// Len returns how many instances there are.
func (i *Instances[T]) Len() int {
	i.index.mu.RLock()
	defer i.index.mu.RUnlock()
	return len(i.maker.places)
}

// find returns the instance of a cluster, a new one if it has none, or nil if it needs
// none.
func (i *Instances[T]) find(place logicalcluster.Name) *instance {
	i.index.mu.RLock()
	c := i.index.clusters[place]
	if c == nil {
		i.index.mu.RUnlock()
		return nil
	}
	found, needed := c.instances[i.maker], c.has(i.maker.needed)
	i.index.mu.RUnlock()
	if found != nil || !needed {
		return found
	}
	return i.add(place)
}

// add gives the cluster an instance, which is made by whoever uses it first.
func (i *Instances[T]) add(place logicalcluster.Name) *instance {
	i.index.mu.Lock()
	unused := i.takeUnused()
	c := i.index.clusters[place]
	var found *instance
	// It may have been different a moment ago.
	if c != nil && c.has(i.maker.needed) {
		if found = c.instances[i.maker]; found == nil {
			found = i.newInstance(place)
			if c.instances == nil {
				c.instances = map[*maker]*instance{}
			}
			c.instances[i.maker] = found
			i.maker.places[place] = found
		}
	}
	i.index.mu.Unlock()
	for _, u := range unused {
		u.end()
	}
	return found
}

func (i *Instances[T]) newInstance(place logicalcluster.Name) *instance {
	ctx, cancel := context.WithCancel(logicalcluster.NewContext(i.index.ctx, place))
	n := &instance{end: cancel}
	n.used.Store(i.maker.now().UnixNano())
	n.make = sync.OnceFunc(func() {
		value, err := i.make(ctx, place)
		n.value, n.err = value, err
	})
	return n
}

// takeUnused takes instances away that nobody has used for long, if there are many.
func (i *Instances[T]) takeUnused() []*instance {
	if len(i.maker.places) < i.maker.most {
		return nil
	}
	var unused []*instance
	before := i.maker.now().Add(-unusedAfter).UnixNano()
	for place, candidate := range i.maker.places {
		if candidate.used.Load() < before {
			unused = append(unused, candidate)
			i.index.take(i.maker, place)
		}
	}
	return unused
}

// take takes the instance of a maker away from a cluster.
func (x *Index) take(m *maker, place logicalcluster.Name) {
	delete(m.places, place)
	if c := x.clusters[place]; c != nil {
		delete(c.instances, m)
	}
}

// forget drops an instance, unless that has happened already.
func (x *Index) forget(m *maker, place logicalcluster.Name, old *instance) {
	x.mu.Lock()
	if m.places[place] == old {
		x.take(m, place)
	}
	x.mu.Unlock()
	old.end()
}

// takeUnneeded takes the instances away from a cluster that it has no configurations
// for any more.
func (x *Index) takeUnneeded(place logicalcluster.Name, c *cluster) []*instance {
	var unneeded []*instance
	for m, i := range c.instances {
		if !c.has(m.needed) {
			unneeded = append(unneeded, i)
			x.take(m, place)
		}
	}
	return unneeded
}
