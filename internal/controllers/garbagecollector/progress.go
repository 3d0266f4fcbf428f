package garbagecollector

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/forkless/kcp/internal/storage"
)

// settle is how long after the objects of a resource have all been told it is taken for
// granted that what was written while they were listed has been told as well.
const settle = 100 * time.Millisecond

// Progress knows how much of what was written has been told. A Feed has one watch per
// resource, so a change of one resource may be told long before an earlier one of
// another; whoever must not miss any waits until all are caught up.
type Progress struct {
	// lastWrite returns the version of the last write to a resource.
	lastWrite func(storage.Resource) uint64

	mu        sync.RWMutex
	resources map[storage.Resource]*told
}

// told is how much has been told of one resource.
type told struct {
	// round counts how often its objects were told from the beginning.
	round atomic.Uint32
	// version is the highest that was told.
	version atomic.Uint64
	// floor is the version of the last write when the present round began. What was
	// written until then has been told when the round is complete, even if it was a
	// removal, of which a round tells nothing.
	floor atomic.Uint64
	// complete is when the present round was complete, in nanoseconds; 0 if it is not.
	complete atomic.Int64
}

func newProgress(lastWrite func(storage.Resource) uint64) *Progress {
	return &Progress{lastWrite: lastWrite, resources: map[storage.Resource]*told{}}
}

func (p *Progress) of(resource storage.Resource) *told {
	p.mu.RLock()
	t := p.resources[resource]
	p.mu.RUnlock()
	if t != nil {
		return t
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if t = p.resources[resource]; t == nil {
		t = &told{}
		p.resources[resource] = t
	}
	return t
}

func (p *Progress) round(resource storage.Resource) uint32 { return p.of(resource).round.Load() }

func (p *Progress) began(resource storage.Resource) {
	t := p.of(resource)
	t.complete.Store(0)
	t.round.Add(1)
	t.floor.Store(p.lastWrite(resource))
}

func (p *Progress) told(resource storage.Resource, version uint64) {
	t := p.of(resource)
	if version > t.version.Load() {
		// Nobody else tells of this resource at the same time.
		t.version.Store(version)
	}
}

func (p *Progress) synced(resource storage.Resource) {
	p.of(resource).complete.Store(time.Now().UnixNano())
}

func (p *Progress) closed(resource storage.Resource) { p.of(resource).complete.Store(0) }

// caughtUp says whether everything has been told that was written to the resource before
// the call, and not after version. A resource that is written to all the time is never
// told to its end, but is soon told beyond a version.
func (p *Progress) caughtUp(resource storage.Resource, version uint64) bool {
	t, last := p.of(resource), min(p.lastWrite(resource), version)
	complete := t.complete.Load()
	switch {
	case complete == 0:
		return false
	case t.version.Load() >= last:
		return true
	default:
		return t.floor.Load() >= last && time.Since(time.Unix(0, complete)) > settle
	}
}
