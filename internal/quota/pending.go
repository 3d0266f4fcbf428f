package quota

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// settles is how long after the end of its request an object is stored if it ever will
// be: the request may have ended for the client before it had for the store.
const settles = 3 * time.Second

// pending is an object that was charged and may be stored or not, or a change of one. It is guarded by the
// lock of the Ledger.
type pending struct {
	Object
	resource schema.GroupResource
	// object is what it will be, if it is measured.
	object runtime.Object
	// changes is the version that will be changed, empty if the object is to be created.
	changes string
	// quotas are what it was charged to.
	quotas []Key
	// stored is the revision since which it is, 0 as long as that is not known.
	stored int64
	// ended is when its request ended, zero if it has not.
	ended time.Time
}

// pendingOf returns what a request is about to store.
func (l *Ledger) pendingOf(a admission.Attributes, object Object) (*pending, error) {
	p := &pending{Object: object, resource: a.GetResource().GroupResource()}
	if !l.Measured(p.resource) || a.GetObject() == nil {
		return p, nil
	}
	// The request goes on with it, while others count.
	p.object = a.GetObject().DeepCopyObject()
	if a.GetOperation() == admission.Update && a.GetOldObject() != nil {
		old, err := meta.Accessor(a.GetOldObject())
		if err != nil {
			return nil, err
		}
		p.changes = old.GetResourceVersion()
	}
	return p, nil
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
		if p.resource == resource && p.Object == object && p.changes == "" {
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

// sight is what was seen of an object when something was counted.
type sight struct {
	found bool
	// version is the one it had, if that was asked for.
	version string
}

// open returns those of the objects that were pending before something was counted at a
// revision that may be stored yet, seen being what was there of them, and forgets those
// that need not be thought of any more. again is when it may be sure of more.
func (l *Ledger) open(cluster logicalcluster.Name, expected []*pending, seen []sight, revision int64) (open []*pending, again time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, p := range expected {
		_, known := l.pending[cluster][p]
		ended, left := !p.ended.IsZero(), settles-time.Since(p.ended)
		switch {
		case !known && p.stored <= revision:
			// It is counted, unless it was removed again, or it never was stored.
		case p.changes != "" && (!seen[i].found || seen[i].version != p.changes):
			// Only that version can be changed: it has been, or will not be.
			l.drop(cluster, p)
		case known && ended && (p.changes == "" && seen[i].found || left <= 0):
			l.drop(cluster, p)
		case known && p.changes == "" && seen[i].found:
		default:
			open = append(open, p)
			if known && ended {
				again = max(again, left)
			}
		}
	}
	return open, again
}
