package informers

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
)

// informer is one kind of configurations in one cluster, with L as its lister.
type informer[L, V any, O versioned[V]] struct {
	shared[V, O]
	lister L
}

func newInformer[L, V any, O versioned[V]](place place, kind kind[V, O], lister func(cache.Indexer) L) informer[L, V, O] {
	content := indexer[V, O]{place: place, kind: kind}
	return informer[L, V, O]{shared[V, O]{indexer: content}, lister(content)}
}

// Informer returns what tells of changes.
func (i informer[L, V, O]) Informer() cache.SharedIndexInformer { return i.shared }

// Lister reads the objects.
func (i informer[L, V, O]) Lister() L { return i.lister }

// shared is an informer over the Index. What an informer can do beside what is below is
// not asked of it: the embedded interface is nil.
type shared[V any, O versioned[V]] struct {
	cache.SharedIndexInformer
	indexer indexer[V, O]
}

// AddEventHandler tells handler of what exists, before it returns, and of all changes. It
// never returns an error: upstream's plugins do not look at it, and the cluster may lose
// its last configuration while one is being made.
func (s shared[V, O]) AddEventHandler(handler cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	at := s.indexer.place
	end := at.sources.Index.Subscribe(at.ctx, at.cluster, s.indexer.kind.resource, subscriber[V, O]{s.indexer.kind, handler})
	return &registered{checker: s.checker(), end: end}, nil
}

// AddEventHandlerWithResyncPeriod is AddEventHandler: nothing is ever missed, so nothing
// has to be told again.
func (s shared[V, O]) AddEventHandlerWithResyncPeriod(handler cache.ResourceEventHandler, _ time.Duration) (cache.ResourceEventHandlerRegistration, error) {
	return s.AddEventHandler(handler)
}

// AddEventHandlerWithOptions is AddEventHandler.
func (s shared[V, O]) AddEventHandlerWithOptions(handler cache.ResourceEventHandler, _ cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	return s.AddEventHandler(handler)
}

// RemoveEventHandler ends what AddEventHandler has begun.
func (s shared[V, O]) RemoveEventHandler(handle cache.ResourceEventHandlerRegistration) error {
	r, ok := handle.(*registered)
	if !ok {
		return errors.New("the handler was registered somewhere else")
	}
	r.end()
	return nil
}

// GetStore returns the objects.
func (s shared[V, O]) GetStore() cache.Store { return s.indexer }

// GetIndexer returns the objects.
func (s shared[V, O]) GetIndexer() cache.Indexer { return s.indexer }

// Run returns when stop is closed. There is nothing to run.
func (s shared[V, O]) Run(stop <-chan struct{}) { <-stop }

// RunWithContext is Run until a context ends.
func (s shared[V, O]) RunWithContext(ctx context.Context) { <-ctx.Done() }

// HasSynced says whether everything that exists can be read.
func (s shared[V, O]) HasSynced() bool { return s.checker().HasSynced() }

// HasSyncedChecker is HasSynced as something to wait for.
func (s shared[V, O]) HasSyncedChecker() cache.DoneChecker { return s.checker() }

// IsStopped says whether the cluster needs the informer no more.
func (s shared[V, O]) IsStopped() bool { return s.indexer.place.ctx.Err() != nil }

func (s shared[V, O]) checker() checker {
	return checker{name: s.indexer.kind.resource.GroupResource.String(), synced: s.indexer.place.sources.Index.Synced()}
}

// checker says whether the Index can be read.
type checker struct {
	name   string
	synced <-chan struct{}
}

// Name returns what is waited for.
func (c checker) Name() string { return c.name }

// Done is closed when it can be read.
func (c checker) Done() <-chan struct{} { return c.synced }

// HasSynced says whether it can be read.
func (c checker) HasSynced() bool {
	select {
	case <-c.synced:
		return true
	default:
		return false
	}
}

// registered is a handler that is told of changes. It has heard of what existed.
type registered struct {
	checker
	end func()
}

// HasSyncedChecker is HasSynced as something to wait for.
func (r *registered) HasSyncedChecker() cache.DoneChecker { return r.checker }

// subscriber hands on what the Index tells to a handler, in v1.
type subscriber[V any, O versioned[V]] struct {
	kind    kind[V, O]
	handler cache.ResourceEventHandler
}

// Existing tells of an object that was there before.
func (s subscriber[V, O]) Existing(obj runtime.Object) { s.add(obj, true) }

// Added tells of a new object.
func (s subscriber[V, O]) Added(obj runtime.Object) { s.add(obj, false) }

func (s subscriber[V, O]) add(obj runtime.Object, initial bool) {
	if v, ok := s.convert(obj); ok {
		s.handler.OnAdd(v, initial)
	}
}

// Updated tells of a change.
func (s subscriber[V, O]) Updated(old, obj runtime.Object) {
	before, ok := s.convert(old)
	if after, converted := s.convert(obj); ok && converted {
		s.handler.OnUpdate(before, after)
	}
}

// Deleted tells of the last of an object.
func (s subscriber[V, O]) Deleted(obj runtime.Object) {
	if v, ok := s.convert(obj); ok {
		s.handler.OnDelete(v)
	}
}

// convert converts what was valid when it was stored, so that it does not fail.
func (s subscriber[V, O]) convert(obj runtime.Object) (O, bool) {
	v, err := s.kind.convert(obj)
	if err != nil {
		utilruntime.HandleError(fmt.Errorf("telling admission of a change: %w", err))
		return nil, false
	}
	return v, true
}
