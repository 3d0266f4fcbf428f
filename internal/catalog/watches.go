package catalog

import (
	"context"
	"sync"
	"time"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// WatchGrace is how long watches outlive a change of their definition. It lets the
// last events through: those of the instances that went with the definition.
const WatchGrace = time.Second

// watches are the watches under way, so that those of a definition that changes or
// goes can be ended. Clients then begin anew and see objects by the new definition.
type watches struct {
	grace time.Duration

	mu      sync.Mutex
	running map[watchKey]map[*context.CancelFunc]struct{}
}

type watchKey struct {
	cluster  logicalcluster.Name
	resource apischema.GroupResource
}

func newWatches() *watches {
	return &watches{grace: WatchGrace, running: map[watchKey]map[*context.CancelFunc]struct{}{}}
}

// begin returns a context that ends with ctx or when the watches of key are cut. The
// caller calls end when its watch is over.
func (w *watches) begin(ctx context.Context, key watchKey) (_ context.Context, end func()) {
	ctx, cancel := context.WithCancel(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.running[key] == nil {
		w.running[key] = map[*context.CancelFunc]struct{}{}
	}
	w.running[key][&cancel] = struct{}{}
	return ctx, func() {
		cancel()
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.running[key], &cancel)
		if len(w.running[key]) == 0 {
			delete(w.running, key)
		}
	}
}

// cut ends, after a moment, the watches of key that run now.
func (w *watches) cut(key watchKey) {
	w.mu.Lock()
	defer w.mu.Unlock()
	running := make([]context.CancelFunc, 0, len(w.running[key]))
	for cancel := range w.running[key] {
		running = append(running, *cancel)
	}
	if len(running) == 0 {
		return
	}
	time.AfterFunc(w.grace, func() {
		for _, cancel := range running {
			cancel()
		}
	})
}
