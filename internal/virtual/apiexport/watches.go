package apiexport

import (
	"context"
	"sync"
)

// watches are the watches over all consumers that run. Those of what is not served any
// more, or is served in another form, are ended: clients begin anew, and see new fields or
// that there is nothing.
type watches struct {
	mu      sync.Mutex
	running map[*watching]context.CancelFunc
}

// watching is what a watch shows.
type watching struct {
	export   provider
	resource *resource
}

func newWatches() *watches { return &watches{running: map[*watching]context.CancelFunc{}} }

// begin returns a context that ends with ctx or when the watch is ended. The caller calls
// end when its watch is over.
func (w *watches) begin(ctx context.Context, watch *watching) (_ context.Context, end func()) {
	ctx, cancel := context.WithCancel(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running[watch] = cancel
	return ctx, func() {
		cancel()
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.running, watch)
	}
}

// of returns the watches that run and that concern says something of.
func (w *watches) of(concerns func(*watching) bool) []*watching {
	w.mu.Lock()
	defer w.mu.Unlock()
	var found []*watching
	for watch := range w.running {
		if concerns(watch) {
			found = append(found, watch)
		}
	}
	return found
}

// end ends a watch, if it still runs.
func (w *watches) end(watch *watching) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if cancel, ok := w.running[watch]; ok {
		cancel()
	}
}
