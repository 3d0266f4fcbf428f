package catalog

import (
	"context"
	"sync"
	"time"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/internal/schema"
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

// watchKey says what a watch is about.
type watchKey struct {
	cluster  logicalcluster.Name
	resource apischema.GroupResource
	// identity is that of the objects, in the wildcard cluster: what others call the same
	// does not disturb it. A single cluster has one resource of a name.
	identity string
}

// anyIdentity is the identity in the keys of watches of the metadata of all identities.
const anyIdentity = "*"

// keyOfWatch returns the key of watches of what is served in cluster.
func keyOfWatch(cluster logicalcluster.Name, served schema.Served) watchKey {
	key := watchKey{cluster: cluster, resource: served.Definition.GroupResource()}
	if cluster.IsWildcard() {
		key.identity = served.Identity
	}
	return key
}

// cutAll ends the watches in the wildcard cluster of what a cluster has got that none has
// had before: those of its identity, which may be shown by it from now on, and those of
// all identities, which it may be a new one of.
func (w *watches) cutAll(first schema.Served) {
	w.cut(keyOfWatch(logicalcluster.Wildcard, first))
	w.cut(watchKey{cluster: logicalcluster.Wildcard, resource: first.Definition.GroupResource(), identity: anyIdentity})
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
