package quota

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// settles is how long after the end of its request an object is stored if it ever will
// be: the request may have ended for the client before it had for the store.
const settles = 3 * time.Second

// pending is an object that was charged and may be stored or not. It is guarded by the
// lock of the Ledger.
type pending struct {
	Object
	resource schema.GroupResource
	// quotas are what it was charged to.
	quotas []Key
	// stored is the revision since which it is, 0 as long as that is not known.
	stored int64
	// ended is when its request ended, zero if it has not.
	ended time.Time
}

// expect makes an object pending.
func (l *Ledger) expect(cluster logicalcluster.Name, p *pending) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pending[cluster] == nil {
		l.pending[cluster] = map[*pending]struct{}{}
	}
	l.pending[cluster][p] = struct{}{}
}

// unexpect undoes expect.
func (l *Ledger) unexpect(cluster logicalcluster.Name, p *pending) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drop(cluster, p)
}

// drop is unexpect for a caller that holds the lock.
func (l *Ledger) drop(cluster logicalcluster.Name, p *pending) {
	delete(l.pending[cluster], p)
	if len(l.pending[cluster]) == 0 {
		delete(l.pending, cluster)
	}
}

// Settled says that an object of a resource is stored since revision, or that it was not
// stored and will not be, if revision is 0. It is called before the request that creates
// it ends.
func (l *Ledger) Settled(cluster logicalcluster.Name, resource schema.GroupResource, object Object, revision int64) {
	l.mu.RLock()
	none := len(l.pending[cluster]) == 0
	l.mu.RUnlock()
	if none {
		return
	}
	var back []Key
	l.mu.Lock()
	for p := range l.pending[cluster] {
		if p.resource == resource && p.Object == object {
			p.stored = revision
			l.drop(cluster, p)
			if revision == 0 {
				back = p.quotas
			}
			// Of several that want to create it, each is told of by itself.
			break
		}
	}
	l.mu.Unlock()
	l.recountLater(back)
}

// follow waits for the end of the request of a pending object. By then it is settled,
// unless it never came to the store, or its outcome is unknown.
func (l *Ledger) follow(ctx context.Context, cluster logicalcluster.Name, p *pending) {
	end := func() {
		l.mu.Lock()
		_, open := l.pending[cluster][p]
		if open {
			p.ended = time.Now()
		}
		l.mu.Unlock()
		if open {
			l.recountLater(p.quotas)
		}
	}
	if ctx.Done() == nil {
		// Nobody will say when.
		end()
		return
	}
	context.AfterFunc(ctx, end)
}

func (l *Ledger) recountLater(quotas []Key) {
	for _, key := range quotas {
		l.ended(key)
	}
}

// expected returns the pending objects of a resource at a place.
func (l *Ledger) expected(at place, resource schema.GroupResource) []*pending {
	l.mu.RLock()
	defer l.mu.RUnlock()
	var all []*pending
	for p := range l.pending[at.cluster] {
		if p.resource == resource && (at.namespace == "" || at.namespace == p.Namespace) {
			all = append(all, p)
		}
	}
	return all
}

// missing returns how many objects that were pending before something was counted at a
// revision are to be added, found being those that were there, and forgets those that
// need not be thought of any more. again is when it may be sure of more.
func (l *Ledger) missing(cluster logicalcluster.Name, expected []*pending, found []bool, revision int64) (n int64, again time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	names := map[Object]bool{}
	for i, p := range expected {
		_, open := l.pending[cluster][p]
		ended, left := !p.ended.IsZero(), settles-time.Since(p.ended)
		switch {
		case !open && p.stored <= revision:
			// It is counted, unless it was removed again, or it never was stored.
		case open && ended && (found[i] || left <= 0):
			l.drop(cluster, p)
		case open && found[i]:
		default:
			names[p.Object] = true
			if open && ended {
				again = max(again, left)
			}
		}
	}
	return int64(len(names)), again
}
