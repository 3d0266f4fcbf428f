package configurations

import (
	"context"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Subscriber is told of the configurations of one kind in one cluster, one at a time
// and in the order of the changes. Objects are those that stores hold.
type Subscriber interface {
	// Existing is called first, for what exists.
	Existing(obj runtime.Object)
	Added(obj runtime.Object)
	Updated(old, obj runtime.Object)
	Deleted(obj runtime.Object)
}

// subscription is a subscriber that is told one thing at a time.
type subscription struct {
	mu sync.Mutex
	Subscriber
}

func (s *subscription) tell(what func(Subscriber)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	what(s.Subscriber)
}

// Subscribe tells subscriber of all that exists, before it returns, and of all that
// changes until ctx ends or end is called.
func (x *Index) Subscribe(ctx context.Context, place logicalcluster.Name, resource storage.Resource, subscriber Subscriber) (end func()) {
	k := kindsOf([]storage.Resource{resource})[0]
	s := &subscription{Subscriber: subscriber}
	// What changes from now on waits until what exists has been told.
	s.mu.Lock()
	defer s.mu.Unlock()

	x.mu.Lock()
	c := x.clusters[place]
	if c == nil {
		c = &cluster{}
		x.clusters[place] = c
	}
	c.subscribers[k] = append(slices.Clip(c.subscribers[k]), s)
	existing := c.list(k)
	x.mu.Unlock()

	for _, obj := range existing {
		s.Existing(obj)
	}
	end = sync.OnceFunc(func() { x.unsubscribe(place, k, s) })
	context.AfterFunc(ctx, end)
	return end
}

func (x *Index) unsubscribe(place logicalcluster.Name, k kind, s *subscription) {
	x.mu.Lock()
	defer x.mu.Unlock()
	c := x.clusters[place]
	if c == nil {
		return
	}
	// A new slice: the old one may be being told.
	c.subscribers[k] = slices.DeleteFunc(slices.Clone(c.subscribers[k]), func(other *subscription) bool { return other == s })
	if c.empty() {
		delete(x.clusters, place)
	}
}
