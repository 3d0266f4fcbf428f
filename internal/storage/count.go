package storage

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

const (
	// countPage is how many keys are read at a time. etcd walks over all that follow with
	// each page, so pages are large.
	countPage = 50_000
	// countRetry is how long to wait after etcd could not be read.
	countRetry = time.Second
	// doubtSettles is how long after a write of unknown outcome it has happened if it ever
	// will, and doubtInterval how often at most everything is counted anew for doubts.
	doubtSettles  = 5 * time.Second
	doubtInterval = time.Minute
)

// CountObjects begins to count the objects of each cluster, if that has not begun. It
// does not wait.
func (l *Layer) CountObjects() { l.counter.begin() }

// ObjectCount returns how many objects a cluster holds, events aside, with those that are
// being created. While they are counted for the first time it waits. counted is false if
// CountObjects was never called.
func (l *Layer) ObjectCount(ctx context.Context, cluster logicalcluster.Name) (count int64, counted bool, err error) {
	if !l.counter.active.Load() {
		return 0, false, nil
	}
	if err := l.counter.wait(ctx); err != nil {
		return 0, false, err
	}
	l.counter.mu.Lock()
	defer l.counter.mu.Unlock()
	t := l.counter.clusters[cluster]
	return int64(t.stored) + int64(t.reserved), true, nil
}

// EachObjectCount calls visit with the number of objects of each cluster that has any. It
// does nothing while they are not counted.
func (l *Layer) EachObjectCount(visit func(cluster logicalcluster.Name, count int64)) {
	l.counter.mu.Lock()
	counts := make(map[logicalcluster.Name]int64, len(l.counter.clusters))
	for cluster, t := range l.counter.clusters {
		counts[cluster] = int64(t.stored)
	}
	l.counter.mu.Unlock()
	for cluster, count := range counts {
		visit(cluster, count)
	}
}

// tally is what is known of one cluster.
type tally struct {
	stored int32
	// reserved are slots of objects that are being created.
	reserved int32
}

// counter counts the objects of each cluster with every write.
//
// It starts from a look at all keys, at one revision. Writes have revisions too: those
// up to it are in what was seen, those after it are added, so that nothing has to stand
// still meanwhile and it can be done again at any time. It is, a while after a write of
// which nobody knows whether it happened.
type counter struct {
	client *clientv3.Client
	prefix string
	// limit and observe are asked and told about each single create. Both may be nil.
	limit   Limit
	observe Observe

	// active says that counting has begun. It is set before the keys are looked at: a
	// write that is not in what was seen finds it set.
	active atomic.Bool
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu sync.Mutex
	// clusters is nil until all keys have been seen once, at revision base.
	clusters map[logicalcluster.Name]tally
	base     int64
	// looking says that keys are being looked at. meanwhile are the writes since.
	looking   bool
	meanwhile []change
	// counted is closed when clusters is not nil.
	counted chan struct{}
	// lookedAt is when keys were last looked at, doubted that they will be again.
	lookedAt time.Time
	doubted  bool
	closed   bool
}

// change is a write that has changed the number of objects of a cluster.
type change struct {
	cluster  logicalcluster.Name
	delta    int32
	revision int64
}

func newCounter(client *clientv3.Client, prefix string) *counter {
	c := &counter{client: client, prefix: prefix, counted: make(chan struct{})}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c
}

// counts says whether objects of a resource are counted. Events are not: they come and
// go by themselves.
func counts(resource schema.GroupResource) bool {
	return resource.Resource != "events" || resource.Group != "" && resource.Group != "events.k8s.io"
}

func (c *counter) begin() {
	if c.active.Load() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.active.Load() {
		c.active.Store(true)
		c.look()
	}
}

// look begins to look at all keys. The caller holds the lock.
func (c *counter) look() {
	if c.looking || c.closed {
		return
	}
	c.looking, c.lookedAt, c.doubted = true, time.Now(), false
	c.wg.Go(func() {
		for {
			seen, revision, err := c.see(c.ctx)
			if err == nil {
				c.seen(seen, revision)
				return
			}
			if c.ctx.Err() == nil {
				klog.FromContext(c.ctx).Error(err, "counting the objects of all clusters, will retry")
			}
			select {
			case <-c.ctx.Done():
				return
			case <-time.After(countRetry):
			}
		}
	})
}

// see returns how many objects each cluster has at a revision.
func (c *counter) see(ctx context.Context) (seen map[logicalcluster.Name]tally, revision int64, err error) {
	seen = map[logicalcluster.Name]tally{}
	from, end := c.prefix+"/", clientv3.GetPrefixRangeEnd(c.prefix+"/")
	for {
		page, err := c.client.KV.Get(ctx, from, clientv3.WithRange(end), clientv3.WithKeysOnly(),
			clientv3.WithLimit(countPage), clientv3.WithRev(revision))
		if err != nil {
			return nil, 0, fmt.Errorf("reading keys: %w", err)
		}
		if revision == 0 {
			revision = page.Header.Revision
		}
		c.tallyKeys(page.Kvs, seen)
		if !page.More {
			return seen, revision, nil
		}
		from = string(page.Kvs[len(page.Kvs)-1].Key) + "\x00"
	}
}

// tallyKeys adds keys, which are in order, to what was seen.
func (c *counter) tallyKeys(keys []*mvccpb.KeyValue, seen map[logicalcluster.Name]tally) {
	var last logicalcluster.Name
	for _, kv := range keys {
		at, ok := locate(c.prefix, string(kv.Key))
		if !ok || !counts(at.resource.GroupResource) {
			continue
		}
		if at.cluster != last.String() {
			parsed, err := logicalcluster.ParseName(at.cluster)
			if err != nil {
				continue
			}
			last = parsed
		}
		t := seen[last]
		t.stored++
		seen[last] = t
	}
}

// seen takes what was seen for the truth, with the writes since.
func (c *counter) seen(clusters map[logicalcluster.Name]tally, revision int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for cluster, t := range c.clusters {
		if t.reserved != 0 {
			now := clusters[cluster]
			now.reserved = t.reserved
			clusters[cluster] = now
		}
	}
	first := c.clusters == nil
	c.clusters, c.base, c.looking = clusters, revision, false
	for _, change := range c.meanwhile {
		c.apply(change)
	}
	c.meanwhile = nil
	if first {
		close(c.counted)
	}
}

// apply adds a write to what is known, unless it is in it. The caller holds the lock.
func (c *counter) apply(change change) {
	if change.revision <= c.base {
		return
	}
	t := c.clusters[change.cluster]
	t.stored += change.delta
	c.put(change.cluster, t)
}

func (c *counter) put(cluster logicalcluster.Name, t tally) {
	if t == (tally{}) {
		delete(c.clusters, cluster)
	} else {
		c.clusters[cluster] = t
	}
}

// wrote notes a write that has succeeded.
func (c *counter) wrote(cluster logicalcluster.Name, delta int32, revision int64) {
	if delta == 0 || !c.active.Load() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.note(change{cluster: cluster, delta: delta, revision: revision})
}

// note is wrote for a caller that holds the lock.
func (c *counter) note(change change) {
	if c.looking {
		c.meanwhile = append(c.meanwhile, change)
	}
	if c.clusters != nil {
		c.apply(change)
	}
}

// wait waits until everything has been counted once.
func (c *counter) wait(ctx context.Context) error {
	select {
	case <-c.counted:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for objects to be counted: %w", ctx.Err())
	}
}

// reserve takes a slot for an object that is to be created, or says that there is none.
// The slot is given back with settle.
func (c *counter) reserve(ctx context.Context, cluster logicalcluster.Name, limit int64) error {
	if err := c.wait(ctx); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.clusters[cluster]
	if count := int64(t.stored) + int64(t.reserved); count >= limit {
		return LimitReached{Cluster: cluster, Count: count, Limit: limit}
	}
	t.reserved++
	c.put(cluster, t)
	return nil
}

// settle gives a slot back. If the object was created, at revision, it is counted
// instead; revision is 0 if it was not.
func (c *counter) settle(cluster logicalcluster.Name, revision int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.clusters[cluster]
	t.reserved--
	c.put(cluster, t)
	if revision > 0 {
		c.note(change{cluster: cluster, delta: 1, revision: revision})
	}
}

// doubt makes everything be counted anew, when a write whose outcome is unknown must
// have happened or never will.
func (c *counter) doubt() {
	if !c.active.Load() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.doubted || c.closed {
		return
	}
	c.doubted = true
	after := max(doubtSettles, time.Until(c.lookedAt.Add(doubtInterval)))
	c.wg.Go(func() {
		select {
		case <-c.ctx.Done():
		case <-time.After(after):
			c.mu.Lock()
			defer c.mu.Unlock()
			c.doubted = false
			c.look()
		}
	})
}

// close ends what runs.
func (c *counter) close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.cancel()
	c.wg.Wait()
}
