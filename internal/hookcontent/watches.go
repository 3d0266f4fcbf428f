package hookcontent

import (
	"context"
	"errors"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/storage"

	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/storage/cached"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// watches are those that run, by the cluster that they are in. A cluster without any takes
// no room.
type watches struct {
	mu      sync.Mutex
	running map[logicalcluster.Name]map[*attempt]context.CancelFunc
}

func newWatches() *watches {
	return &watches{running: map[logicalcluster.Name]map[*attempt]context.CancelFunc{}}
}

// begin returns a context that ends with ctx or when the watch is ended. The caller calls
// end when its watch is over.
func (w *watches) begin(ctx context.Context, a *attempt) (_ context.Context, end func()) {
	ctx, cancel := context.WithCancel(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.running[a.cluster] == nil {
		w.running[a.cluster] = map[*attempt]context.CancelFunc{}
	}
	w.running[a.cluster][a] = cancel
	return ctx, func() {
		cancel()
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.running[a.cluster], a)
		if len(w.running[a.cluster]) == 0 {
			delete(w.running, a.cluster)
		}
	}
}

// in returns the watches that run in a cluster.
func (w *watches) in(cluster logicalcluster.Name) []*attempt {
	w.mu.Lock()
	defer w.mu.Unlock()
	var found []*attempt
	for a := range w.running[cluster] {
		found = append(found, a)
	}
	return found
}

// clusters returns those with a watch that concerns says something of.
func (w *watches) clusters(concerns func(*attempt) bool) []logicalcluster.Name {
	w.mu.Lock()
	defer w.mu.Unlock()
	var found []logicalcluster.Name
	for cluster, running := range w.running {
		for a := range running {
			if concerns(a) {
				found = append(found, cluster)
				break
			}
		}
	}
	return found
}

// end ends a watch, if it still runs.
func (w *watches) end(a *attempt) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if cancel, ok := w.running[a.cluster][a]; ok {
		cancel()
	}
}

// lookAgain is how long a watch that begins while something changes is left alone.
const lookAgain = 50 * time.Millisecond

// Stores are what the controller watches.
type Stores struct {
	Clusters, Types storage.Interface
}

// Controller returns the controller that ends the watches of hooks whose turn is over. What
// concerns no watch that runs it forgets at once.
func (c *Content) Controller(stores Stores) *controller.Controller {
	return controller.New(controller.Options{
		Name:    "hook-content",
		Workers: 1,
		Sources: []controller.Source{
			{Store: stores.Clusters, Prefix: cached.LogicalClusters.Prefix(), Keys: c.watchedIn, Known: c.watched},
			{Store: stores.Types, Prefix: cached.WorkspaceTypes.Prefix(), Keys: c.watchedBy, Known: c.watched},
		},
		Reconcile: c.reconcile,
	})
}

// watchedIn returns the key of the cluster that obj, its LogicalCluster, is in, if watches
// run there.
func (c *Content) watchedIn(obj runtime.Object) []controller.Key {
	var keys []controller.Key
	for _, own := range controller.OwnKey(obj) {
		if len(c.watches.in(own.Cluster)) > 0 {
			keys = append(keys, keyOf(own.Cluster))
		}
	}
	return keys
}

// watchedBy returns the keys of the clusters in which the hooks of obj, a WorkspaceType,
// have watches.
func (c *Content) watchedBy(obj runtime.Object) []controller.Key {
	var keys []controller.Key
	for _, own := range controller.OwnKey(obj) {
		for _, cluster := range c.watches.clusters(func(a *attempt) bool {
			return a.hook.Cluster == own.Cluster && a.hook.Type == own.Name
		}) {
			keys = append(keys, keyOf(cluster))
		}
	}
	return keys
}

// watched returns the keys of all clusters in which watches run.
func (c *Content) watched() []controller.Key {
	var keys []controller.Key
	for _, cluster := range c.watches.clusters(func(*attempt) bool { return true }) {
		keys = append(keys, keyOf(cluster))
	}
	return keys
}

func keyOf(cluster logicalcluster.Name) controller.Key { return controller.Key{Cluster: cluster} }

// reconcile ends the watches in a cluster that could not begin now.
func (c *Content) reconcile(ctx context.Context, key controller.Key) error {
	var again error
	for _, a := range c.watches.in(key.Cluster) {
		now, err := c.decide(ctx, a)
		var refused *refusal
		switch {
		case errors.As(err, &refused):
			c.watches.end(a)
		case err != nil:
			return err
		case a.granted.Load() == nil:
			// It may be granted by what has just changed.
			again = controller.After(lookAgain)
		case !a.granted.Load().as(now):
			c.watches.end(a)
		}
	}
	return again
}
