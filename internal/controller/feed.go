package controller

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	apistorage "k8s.io/apiserver/pkg/storage"
	"k8s.io/klog/v2"

	"github.com/forkless/kcp/internal/storage"
)

// Listener hears of the objects of every resource. The calls for one resource come one
// after the other, those for different resources at the same time. They have to be
// quick: a listener that needs time puts what it heard into a queue. One that panics is
// not told again of what made it panic; the others are.
type Listener interface {
	// Began says that all objects of resource are told next, with Changed: at the
	// start, and again after a gap in which changes have gone unheard.
	Began(resource storage.Resource)
	// Changed says that obj exists, or has changed. It may be told more than once, and
	// must not be changed.
	Changed(resource storage.Resource, obj runtime.Object)
	// Gone says that an object was removed. obj is the last it was.
	Gone(resource storage.Resource, obj runtime.Object)
	// Synced says that what exists has been told. What a listener remembers from before
	// Began and has not heard of since then is gone.
	Synced(resource storage.Resource)
	// Closed says that the store of resource is closed. Nothing more is told of it
	// until Began.
	Closed(resource storage.Resource)
}

// Stores knows which stores are open.
type Stores interface {
	// Stores returns the open stores, and a channel that is closed when they change.
	Stores() (stores map[storage.Resource]apistorage.Interface, changed <-chan struct{})
}

// Feed tells listeners what happens to the objects of every open store, in all
// clusters. There is one watch a store, however many listeners and clusters there are.
type Feed struct {
	stores    Stores
	listeners []Listener
}

// NewFeed returns a Feed that does nothing until Run.
func NewFeed(stores Stores, listeners ...Listener) *Feed {
	return &Feed{stores: stores, listeners: listeners}
}

// Run watches until ctx ends, and returns when all goroutines have.
func (f *Feed) Run(ctx context.Context) {
	following := map[storage.Resource]*fed{}
	for {
		stores, changed := f.stores.Stores()
		for resource, followed := range following {
			if stores[resource] != followed.store {
				followed.end()
				delete(following, resource)
			}
		}
		for resource, store := range stores {
			if following[resource] == nil {
				following[resource] = f.follow(ctx, resource, store)
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			for _, followed := range following {
				followed.end()
			}
			return
		}
	}
}

// fed is a store that is being watched.
type fed struct {
	store apistorage.Interface
	// end stops the watch and waits until nothing more is told.
	end func()
}

// follow begins to tell of the objects of a store.
func (f *Feed) follow(ctx context.Context, resource storage.Resource, store apistorage.Interface) *fed {
	ctx, cancel := context.WithCancel(ctx)
	follow := follower{
		Source:     Source{Store: store, Prefix: resource.Prefix()},
		controller: "feed",
		began:      func() { f.each(func(l Listener) { l.Began(resource) }) },
		changed: func(obj runtime.Object, gone bool) {
			f.each(func(l Listener) {
				if gone {
					l.Gone(resource, obj)
				} else {
					l.Changed(resource, obj)
				}
			})
		},
		synced: func() { f.each(func(l Listener) { l.Synced(resource) }) },
	}
	var done sync.WaitGroup
	done.Go(func() {
		follow.run(ctx)
		f.each(func(l Listener) { l.Closed(resource) })
	})
	return &fed{store: store, end: func() {
		cancel()
		done.Wait()
	}}
}

func (f *Feed) each(tell func(Listener)) {
	for _, listener := range f.listeners {
		survive("feed", func() { tell(listener) })
	}
}

// survive calls f, and writes a line into the log if it panics: one object that somebody
// has not thought of must not end the process, which would find it again when it starts.
func survive(controller string, f func()) {
	defer func() {
		if r := recover(); r != nil {
			klog.Background().Error(fmt.Errorf("panic: %v", r), "hearing of an object", "controller", controller, "stack", string(debug.Stack()))
		}
	}()
	f()
}
