package quota

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Object names an object of a resource; Namespace is empty for one that is in none.
type Object struct{ Namespace, Name string }

// Store is where quotas, and what they count, are stored.
type Store interface {
	// Get returns a quota as it is stored now, or a NotFound Status. It belongs to the
	// caller.
	Get(ctx context.Context, cluster logicalcluster.Name, namespace, name string) (*corev1.ResourceQuota, error)
	// UpdateStatus writes the status of quotas, of all or of none. They have to be stored
	// at their resource versions, otherwise the error is a Conflict Status. Afterwards
	// they have the new ones.
	UpdateStatus(ctx context.Context, cluster logicalcluster.Name, quotas ...*corev1.ResourceQuota) error
	// Count returns how many objects of a resource are stored in a namespace, or in all
	// of a cluster if that is empty, and which of those it is asked to look for, all at
	// one moment, that of revision, and with everything that was written before. What it
	// cannot look for too is not found.
	Count(ctx context.Context, cluster logicalcluster.Name, namespace string, resource schema.GroupResource, look []Object) (count int64, found []bool, revision int64, err error)
	// List returns the objects of a resource that are stored in a namespace, or in all of
	// a cluster if that is empty, in the same way. They are not changed.
	List(ctx context.Context, cluster logicalcluster.Name, namespace string, resource schema.GroupResource) (objects []runtime.Object, revision int64, err error)
}

// Ledger knows what quotas there are and what is used of them. All methods may be called
// concurrently.
type Ledger struct {
	store Store
	// ended is called with the quotas of which something was pending.
	ended    func(Key)
	measures Measures
	// synced is closed when all quotas have been told once.
	synced     chan struct{}
	syncedOnce sync.Once

	mu      sync.RWMutex
	book    book
	pending map[logicalcluster.Name]map[*pending]struct{}
	gates   gates
}

// NewLedger returns a Ledger that has heard of no quota. ended is called with quotas that
// have to be counted anew because a request has ended that was charged to them. Of objects
// that have no measures only the number counts.
func NewLedger(store Store, measures Measures, ended func(Key)) *Ledger {
	return &Ledger{
		store:    store,
		ended:    ended,
		measures: measures,
		synced:   make(chan struct{}),
		book:     newBook(measures),
		pending:  map[logicalcluster.Name]map[*pending]struct{}{},
		gates:    gates{},
	}
}

// Began says that all quotas are told next.
func (l *Ledger) Began() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.book.round++
}

// Hear says that a quota is as q, which is not changed any more. It returns whether that
// is news, and the quota to be counted.
func (l *Ledger) Hear(cluster logicalcluster.Name, q *corev1.ResourceQuota) (Key, bool) {
	key := Key{cluster, q.Namespace, q.Name}
	l.mu.Lock()
	defer l.mu.Unlock()
	return key, l.book.put(key, q)
}

// Gone says that a quota was removed.
func (l *Ledger) Gone(cluster logicalcluster.Name, q *corev1.ResourceQuota) {
	key := Key{cluster, q.Namespace, q.Name}
	l.mu.Lock()
	defer l.mu.Unlock()
	if known, ok := l.book.quotas[key]; ok && known.quota.UID == q.UID {
		l.forget(key)
	}
}

// Synced says that all quotas have been told since Began.
func (l *Ledger) Synced() {
	l.mu.Lock()
	for key, e := range l.book.quotas {
		if e.round != l.book.round {
			l.forget(key)
		}
	}
	l.mu.Unlock()
	l.syncedOnce.Do(func() { close(l.synced) })
}

// forget removes a quota. The caller holds the lock.
func (l *Ledger) forget(key Key) {
	l.book.remove(key)
	if l.book.clusters[key.Cluster] == 0 {
		delete(l.pending, key.Cluster)
	}
}

// Counting returns the quotas that count an object of a resource: those to be counted
// anew when it is gone.
func (l *Ledger) Counting(cluster logicalcluster.Name, namespace string, resource schema.GroupResource) []Key {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.book.counting(cluster, namespace, resource)
}

// CountingAny returns the quotas of all clusters that count objects of a resource.
func (l *Ledger) CountingAny(resource schema.GroupResource) []Key {
	l.mu.RLock()
	defer l.mu.RUnlock()
	var keys []Key
	for key, e := range l.book.quotas {
		if l.measures.counts(e.quota, resource) {
			keys = append(keys, key)
		}
	}
	return keys
}

// wait waits until all quotas are known: before, nobody knows what is limited.
func (l *Ledger) wait(ctx context.Context) error {
	select {
	case <-l.synced:
		return nil
	default:
	}
	select {
	case <-l.synced:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting until all quotas are known: %w", ctx.Err())
	}
}
