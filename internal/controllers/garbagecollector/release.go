package garbagecollector

import (
	"context"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"

	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/storage/cached"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

const (
	// lookAgain is how often it is looked whether the graph has caught up.
	lookAgain = 10 * time.Millisecond
	// longest is how long an object waits for the graph to catch up. A store that does
	// not tell what it has must not hold what others have for ever.
	longest = time.Minute
	// releasedAtOnce is how many dependents of an object are orphaned or decided about at
	// a time before it is let go.
	releasedAtOnce = 16
)

// orphan removes the references to an object that waits for it, and lets it go.
func (c *Collector) orphan(ctx context.Context, key controller.Key, i item) error {
	if !c.caughtUp(ctx, key) {
		return controller.After(lookAgain)
	}
	var group errgroup.Group
	group.SetLimit(releasedAtOnce)
	for _, dependent := range c.Graph.dependents(key) {
		group.Go(func() error {
			obj, accessor, err := c.read(ctx, dependent.cluster, dependent.location, fromCache)
			if err != nil || compact(accessor.GetUID()) != dependent.uid {
				return done(err)
			}
			return done(c.release(ctx, dependent.cluster, dependent.resource, obj, owned(accessor, i.uid)))
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return c.letGo(ctx, key, i, metav1.FinalizerOrphanDependents)
}

// owned returns the UIDs of an object's references to the owner.
func owned(accessor metav1.Object, owner uid) []types.UID {
	var uids []types.UID
	for _, ref := range accessor.GetOwnerReferences() {
		if compact(ref.UID) == owner {
			uids = append(uids, ref.UID)
		}
	}
	return uids
}

// waitForDependents lets an object go that waits for its dependents, if none blocks it.
func (c *Collector) waitForDependents(ctx context.Context, key controller.Key, i item) error {
	switch {
	case i.blocked:
		// What is written until it is unblocked is waited for as well.
		c.patience.forget(key)
		c.Graph.lookAtBlocking(key)
		return nil
	case !c.caughtUp(ctx, key):
		return controller.After(lookAgain)
	}
	// Nothing that was written before has been told since.
	if now, ok := c.Graph.item(key); ok && now.blocked {
		c.patience.forget(key)
		c.Graph.lookAtBlocking(key)
		return nil
	}
	// Those that do not block it go as well. When it has been let go, and something else
	// holds it, they cannot be told any more from those of an owner that was deleted in
	// another way.
	if err := c.judgeDependents(ctx, key); err != nil {
		return err
	}
	return c.letGo(ctx, key, i, metav1.FinalizerDeleteDependents)
}

// judgeDependents decides about the objects that refer to the one with the key.
func (c *Collector) judgeDependents(ctx context.Context, key controller.Key) error {
	var group errgroup.Group
	group.SetLimit(releasedAtOnce)
	for _, dependent := range c.Graph.dependents(key) {
		own := controller.Key{Cluster: dependent.cluster, Name: dependent.uid.String()}
		group.Go(func() error {
			if i, ok := c.Graph.item(own); ok && i.collectable() {
				return c.judge(ctx, own, i)
			}
			return nil
		})
	}
	return group.Wait()
}

// letGo removes the finalizer from an object by which it waited for its dependents.
func (c *Collector) letGo(ctx context.Context, key controller.Key, i item, finalizer string) error {
	c.patience.forget(key)
	obj, accessor, err := c.read(ctx, i.cluster, i.location, fromCache)
	if err != nil || compact(accessor.GetUID()) != i.uid {
		return done(err)
	}
	// A LogicalCluster goes with all that is in it, which its own controller sees to.
	keep := i.resource == cached.LogicalClusters
	return done(c.remover.Finalize(ctx, i.cluster, i.resource, obj, finalizer, keep))
}

// release removes the references of an object to the owners.
func (c *Collector) release(ctx context.Context, cluster logicalcluster.Name, resource storage.Resource, obj runtime.Object, owners []types.UID) error {
	if len(owners) == 0 {
		return nil
	}
	return c.remover.Update(ctx, cluster, resource, obj, func(current metav1.Object) error {
		current.SetOwnerReferences(slices.DeleteFunc(slices.Clone(current.GetOwnerReferences()), func(ref metav1.OwnerReference) bool {
			return slices.Contains(owners, ref.UID)
		}))
		return nil
	})
}

// unblock makes the references of an object block its owners no longer.
func (c *Collector) unblock(ctx context.Context, i item, obj runtime.Object) error {
	return c.remover.Update(ctx, i.cluster, i.resource, obj, func(current metav1.Object) error {
		refs := slices.Clone(current.GetOwnerReferences())
		for n := range refs {
			if ptr.Deref(refs[n].BlockOwnerDeletion, false) {
				refs[n].BlockOwnerDeletion = ptr.To(false)
			}
		}
		current.SetOwnerReferences(refs)
		return nil
	})
}

// caughtUp says whether the graph has been told of all that was written before the object
// with the key was first found waiting for it. What is written while it waits does not
// matter: others may write all the time.
func (c *Collector) caughtUp(ctx context.Context, key controller.Key) bool {
	since := c.patience.of(key, c.config.Layer.LastWriteOfAll)
	behind := c.behind(since.version)
	if behind == "" {
		return true
	}
	if c.patience.clock.Since(since.time) <= longest {
		return false
	}
	klog.FromContext(ctx).Info("collecting garbage without knowing all dependents", "object", key.String(), "unknown", behind)
	return true
}

// behind names something of which the graph has not been told everything until a version.
func (c *Collector) behind(version uint64) string {
	select {
	case <-c.opened:
	default:
		return "stores that are not open yet"
	}
	for _, resource := range c.config.Layer.Opened() {
		if resource != events && !c.Graph.progress.caughtUp(resource, version) {
			return resource.Prefix()
		}
	}
	return ""
}

// patience remembers since when objects have been waiting for the graph to catch up.
type patience struct {
	clock clock.PassiveClock
	mu    sync.Mutex
	since map[controller.Key]moment
}

// moment is when something was, by the clock and by the version of what was written last.
type moment struct {
	time    time.Time
	version uint64
}

// of returns since when an object has been waiting: since now if it was not yet.
func (p *patience) of(key controller.Key, version func() uint64) moment {
	p.mu.Lock()
	defer p.mu.Unlock()
	since, ok := p.since[key]
	if !ok {
		since = moment{p.clock.Now(), version()}
		p.since[key] = since
	}
	return since
}

func (p *patience) forget(key controller.Key) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.since, key)
}
