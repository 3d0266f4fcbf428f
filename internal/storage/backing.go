package storage

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"
)

// backing is a store as the watch cache above it is to see it.
type backing struct {
	storage.Interface

	mu    sync.Mutex
	ended bool
	// feeds are the watches that the cache is filled from.
	feeds map[*feed]struct{}
}

// IsWatchListSemanticsUnSupported says that a watch cache is filled by a list. By default
// it would use a watch, whose objects upstream collects by namespace and name: of those
// that differ in their cluster only, one would remain.
func (*backing) IsWatchListSemanticsUnSupported() bool { return true }

// EnableResourceSizeEstimation does nothing: what is estimated by it, priority and fairness
// goes by, which is not in use, and it takes the key of every object once more.
func (*backing) EnableResourceSizeEstimation(storage.KeysFunc) error { return nil }

// Watch is the watch of the store, until the end. After it nothing happens any more.
func (b *backing) Watch(ctx context.Context, key string, options storage.ListOptions) (watch.Interface, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended {
		return silence{}, nil
	}
	watching, err := b.Interface.Watch(ctx, key, options)
	if err != nil {
		return nil, err
	}
	f := &feed{Interface: watching, left: make(chan struct{})}
	f.leave = sync.OnceFunc(func() {
		close(f.left)
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.feeds, f)
	})
	b.feeds[f] = struct{}{}
	return f, nil
}

// end ends the watches, and returns when the cache has taken in what they had. A cache that
// is stopped takes in nothing any more, and waits for whoever brings it events: more of them
// than it has room for would keep it waiting for ever.
func (b *backing) end() {
	b.mu.Lock()
	b.ended = true
	feeds := make([]*feed, 0, len(b.feeds))
	for f := range b.feeds {
		feeds = append(feeds, f)
	}
	b.mu.Unlock()
	for _, f := range feeds {
		f.Interface.Stop()
		<-f.left
	}
}

// feed is a watch that tells when nobody reads from it any more.
type feed struct {
	watch.Interface

	left  chan struct{}
	leave func()
}

// Stop is called by the reader when it has read what it wanted.
func (f *feed) Stop() {
	f.Interface.Stop()
	f.leave()
}

// silence is a watch that hears nothing.
type silence struct{}

func (silence) ResultChan() <-chan watch.Event { return nil }

func (silence) Stop() {}
