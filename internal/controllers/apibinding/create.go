package apibinding

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/forkless/kcp/internal/binding"
	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/permissionclaims"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/storage/cached"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Complete is the storage.Complete of APIBindings: one that is being created, and that
// would be bound as soon as the controller looks at it, is stored bound, with its locks. It
// is written once then instead of three times, and its creator need not wait.
//
// Whatever stands in the way, if only for a moment, is left to the controller: then the
// binding is created as it is, and its status says why it is not bound.
func (c *Controller) Complete(ctx context.Context, cluster logicalcluster.Name, obj runtime.Object, again bool) *storage.Completion {
	b, ok := obj.(*apisv1alpha2.APIBinding)
	if !ok || b.Status.Phase != apisv1alpha2.APIBindingPhaseNone || b.ResourceVersion != "" {
		return nil
	}
	select {
	case <-c.Synced():
	default:
		// Not all that is bound is known yet.
		return nil
	}
	f, err := c.r.gather(ctx, cluster, b)
	if err != nil || f.Export == nil || !c.r.allStored(ctx, f) {
		return nil
	}
	if !again {
		// What has changed since makes the transaction fail.
		if f.lc, err = c.r.Clusters.GetCached(ctx, cluster); err != nil {
			return nil
		}
	}
	return c.r.complete(ctx, controller.Key{Cluster: cluster, Name: b.Name}, f)
}

// allStored says whether everything that the export of f offers has been bound before, as
// it is offered now.
func (r *reconciler) allStored(ctx context.Context, f *facts) bool {
	for _, offer := range f.Export.Offers {
		known, err := r.stored.get(ctx, string(offer.UID))
		if err != nil || known == nil || offer.Definition == nil || known.Hash != offer.Definition.Hash {
			return false
		}
	}
	return true
}

// complete returns a binding as it is when it is bound, with what is written with it; nil
// if it cannot be bound. What is returned keeps others from deciding about the workspace.
func (r *reconciler) complete(ctx context.Context, key controller.Key, f *facts) *storage.Completion {
	unlock := r.Locks.Lock(key.Cluster)
	wanted, batch := r.decideBound(ctx, key, f)
	if wanted == nil {
		unlock()
		return nil
	}
	r.announced.add(key, wanted.UID)
	// The transaction finds out what has been collected until now, and what is used from
	// now on is not collected.
	r.use(key, wanted)
	// A version that is not below that of a binding of the same name that has gone.
	version := max(versionOf(f.lc.ResourceVersion), r.Layer.LastWrite(cached.APIBindings))
	r.Catalog.Bind(key.Cluster, key.Name, version, r.served(wanted, f.definition(r.definitionOf(ctx))))
	return &storage.Completion{Object: wanted, With: batch, Done: func(written bool) {
		unlock()
		if !written {
			r.announced.failed(key)
			r.enqueue(key)
		}
	}}
}

// decideBound returns a binding as it is when it is bound, and what has to be written with
// it; nil if it cannot be bound. The caller holds the lock of the cluster.
func (r *reconciler) decideBound(ctx context.Context, key controller.Key, f *facts) (*apisv1alpha2.APIBinding, *storage.Batch) {
	if err := r.gatherRivals(ctx, f); err != nil || f.ClusterGone || f.exists || !f.lc.DeletionTimestamp.IsZero() {
		return nil, nil
	}
	plan := binding.Decide(f.Input)
	if plan.Waits || plan.Binding.Status.Phase != apisv1alpha2.APIBindingPhaseBound {
		return nil, nil
	}
	batch := r.Layer.NewBatch()
	r.addLocks(batch, key.Cluster, f, plan)
	r.requireDefinitions(batch, plan.Binding, f)
	return permissionclaims.Settled(plan.Binding), batch
}

// announcements are the bindings that the catalog and the index know of, and that the watch
// cache may not have yet.
type announcements struct {
	mu  sync.Mutex
	all map[controller.Key]announcement
}

type announcement struct {
	uid types.UID
	// over says that it may not have been written, and that nobody is at it any more.
	over bool
}

func (a *announcements) add(key controller.Key, uid types.UID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.all == nil {
		a.all = map[controller.Key]announcement{}
	}
	a.all[key] = announcement{uid: uid}
}

// failed notes that a binding may not have been written.
func (a *announcements) failed(key controller.Key) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if one, ok := a.all[key]; ok {
		one.over = true
		a.all[key] = one
	}
}

// seen notes that the watch cache has a binding of that name. It may be an older one.
func (a *announcements) seen(key controller.Key, uid types.UID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if one, ok := a.all[key]; ok && (one.uid == uid || one.over) {
		delete(a.all, key)
	}
}

func (a *announcements) has(key controller.Key) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, ok := a.all[key]
	return ok
}

func (a *announcements) drop(key controller.Key) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.all, key)
}
