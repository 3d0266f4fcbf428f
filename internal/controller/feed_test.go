package controller

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	apistorage "k8s.io/apiserver/pkg/storage"

	"github.com/forkless/kcp/internal/storage"
)

var (
	configMaps = storage.Resource{GroupResource: schema.GroupResource{Resource: "configmaps"}}
	widgets    = storage.Resource{GroupResource: schema.GroupResource{Group: "example.com", Resource: "widgets"}, Identity: storage.CustomResources}
)

// openStores is a set of stores that a test opens and closes.
type openStores struct {
	mu      sync.Mutex
	stores  map[storage.Resource]apistorage.Interface
	changed chan struct{}
}

func (o *openStores) Stores() (map[storage.Resource]apistorage.Interface, <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	stores := map[storage.Resource]apistorage.Interface{}
	for resource, store := range o.stores {
		stores[resource] = store
	}
	return stores, o.changed
}

// set opens a store, or closes it if store is nil.
func (o *openStores) set(resource storage.Resource, store *watched) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if store == nil {
		delete(o.stores, resource)
	} else {
		o.stores[resource] = store
	}
	close(o.changed)
	o.changed = make(chan struct{})
}

// heard is a listener that writes down what it is told.
type heard chan string

func (h heard) Began(r storage.Resource) { h <- "began " + r.Resource }
func (h heard) Changed(r storage.Resource, obj runtime.Object) {
	h <- fmt.Sprintf("changed %s %s", r.Resource, name(obj))
}

func (h heard) Gone(r storage.Resource, obj runtime.Object) {
	h <- fmt.Sprintf("gone %s %s", r.Resource, name(obj))
}
func (h heard) Synced(r storage.Resource) { h <- "synced " + r.Resource }
func (h heard) Closed(r storage.Resource) { h <- "closed " + r.Resource }

func name(obj runtime.Object) string {
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return err.Error()
	}
	return accessor.GetName()
}

func (h heard) expect(t *testing.T, want ...string) {
	t.Helper()
	for _, want := range want {
		if got := receive(t, h, want); got != want {
			t.Fatalf("heard %q, want %q", got, want)
		}
	}
}

func newWatched() *watched { return &watched{begun: make(chan begun, 10)} }

func TestFeedTellsOfEveryStore(t *testing.T) {
	first := newWatched()
	stores := &openStores{stores: map[storage.Resource]apistorage.Interface{configMaps: first}, changed: make(chan struct{})}
	listener := make(heard, 20)
	feed := NewFeed(stores, listener)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { feed.Run(ctx) })

	w := receive(t, first.begun, "the watch of the store that was open")
	w.events.Add(object("a", "3"))
	listener.expect(t, "began configmaps", "changed configmaps a")
	w.events.Action(watch.Bookmark, initialEventsEnd("5"))
	listener.expect(t, "synced configmaps")
	w.events.Modify(object("a", "6"))
	w.events.Delete(object("a", "7"))
	listener.expect(t, "changed configmaps a", "gone configmaps a")

	// A store that is opened later, closed, and opened anew under its old name.
	second, third := newWatched(), newWatched()
	stores.set(widgets, second)
	receive(t, second.begun, "the watch of the store that was opened")
	listener.expect(t, "began widgets")
	stores.set(widgets, nil)
	listener.expect(t, "closed widgets")
	stores.set(widgets, third)
	receive(t, third.begun, "the watch of the store that was opened anew")
	listener.expect(t, "began widgets")

	cancel()
	running.Wait()
	if got := len(listener); got != 2 {
		t.Errorf("%d stores said to be closed at the end, want 2", got)
	}
}

func TestFeedTellsEverythingAnewAfterAGap(t *testing.T) {
	store := newWatched()
	stores := &openStores{stores: map[storage.Resource]apistorage.Interface{configMaps: store}, changed: make(chan struct{})}
	listener := make(heard, 20)
	feed := NewFeed(stores, listener)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { feed.Run(ctx) })
	defer running.Wait()
	defer cancel()

	w := receive(t, store.begun, "the watch")
	w.events.Action(watch.Bookmark, initialEventsEnd("5"))
	listener.expect(t, "began configmaps", "synced configmaps")
	w.events.Add(object("a", "9"))
	listener.expect(t, "changed configmaps a")
	w.events.Stop()

	w = receive(t, store.begun, "the resumed watch")
	if got := w.options.ResourceVersion; got != "8" {
		t.Errorf("resumed after %q, want before the last version heard of: others may share it", got)
	}
	w.events.Add(object("a", "9"))
	listener.expect(t, "changed configmaps a")
	w.events.Action(watch.Error, object("expired", ""))

	w = receive(t, store.begun, "the watch that begins anew")
	if w.options.ResourceVersion != "" {
		t.Errorf("resumed at %q after the history had expired", w.options.ResourceVersion)
	}
	listener.expect(t, "began configmaps")
	w.events.Action(watch.Bookmark, initialEventsEnd("20"))
	listener.expect(t, "synced configmaps")
}

// clumsy is a listener that panics at one object.
type clumsy struct{ heard }

func (c clumsy) Changed(r storage.Resource, obj runtime.Object) {
	if name(obj) == "poison" {
		panic("not thought of")
	}
	c.heard.Changed(r, obj)
}

func TestFeedSurvivesListeners(t *testing.T) {
	store := newWatched()
	stores := &openStores{stores: map[storage.Resource]apistorage.Interface{configMaps: store}, changed: make(chan struct{})}
	first, second := clumsy{make(heard, 20)}, make(heard, 20)
	feed := NewFeed(stores, first, second)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { feed.Run(ctx) })
	defer running.Wait()
	defer cancel()

	w := receive(t, store.begun, "the watch")
	w.events.Add(object("poison", "3"))
	w.events.Add(object("a", "4"))
	second.expect(t, "began configmaps", "changed configmaps poison", "changed configmaps a")
	first.expect(t, "began configmaps", "changed configmaps a")
}
