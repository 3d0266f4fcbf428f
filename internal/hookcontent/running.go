package hookcontent

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/storage"

	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/storage/cached"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// running are the requests that are being served, by the cluster that they are in. Most are
// over in a moment, but watches go on, and others may be held up, by webhooks say, until it is
// not the hook's turn any more. A cluster without any takes no room.
type running struct {
	mu sync.Mutex
	in map[logicalcluster.Name]map[*attempt]context.CancelCauseFunc
}

func newRunning() *running {
	return &running{in: map[logicalcluster.Name]map[*attempt]context.CancelCauseFunc{}}
}

// begin returns a context that ends with ctx or when the request is ended. The caller calls
// end when it has been served.
func (r *running) begin(ctx context.Context, a *attempt) (_ context.Context, end func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.in[a.cluster] == nil {
		r.in[a.cluster] = map[*attempt]context.CancelCauseFunc{}
	}
	r.in[a.cluster][a] = cancel
	return ctx, func() {
		cancel(nil)
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.in[a.cluster], a)
		if len(r.in[a.cluster]) == 0 {
			delete(r.in, a.cluster)
		}
	}
}

// of returns the requests that run in a cluster.
func (r *running) of(cluster logicalcluster.Name) []*attempt {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found []*attempt
	for a := range r.in[cluster] {
		found = append(found, a)
	}
	return found
}

// clusters returns those with a request that concerns says something of.
func (r *running) clusters(concerns func(*attempt) bool) []logicalcluster.Name {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found []logicalcluster.Name
	for cluster, running := range r.in {
		for a := range running {
			if concerns(a) {
				found = append(found, cluster)
				break
			}
		}
	}
	return found
}

// end ends a request, if it still runs, because of err.
func (r *running) end(a *attempt, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if cancel, ok := r.in[a.cluster][a]; ok {
		cancel(err)
	}
}

// lookAgain is how long a request that begins while something changes is left alone.
const lookAgain = 50 * time.Millisecond

// Stores are what the controller watches.
type Stores struct {
	Clusters, Types storage.Interface
}

// Controller returns the controller that ends the requests of hooks whose turn is over. What
// concerns no request that runs it forgets at once.
func (c *Content) Controller(stores Stores) *controller.Controller {
	return controller.New(controller.Options{
		Name:    "hook-content",
		Workers: 1,
		Sources: []controller.Source{
			{Store: stores.Clusters, Prefix: cached.LogicalClusters.Prefix(), Keys: c.runningIn, Known: c.allRunning},
			{Store: stores.Types, Prefix: cached.WorkspaceTypes.Prefix(), Keys: c.runningBy, Known: c.allRunning},
		},
		Reconcile: c.reconcile,
	})
}

// runningIn returns the key of the cluster that obj, its LogicalCluster, is in, if requests
// run there.
func (c *Content) runningIn(obj runtime.Object) []controller.Key {
	var keys []controller.Key
	for _, own := range controller.OwnKey(obj) {
		if len(c.running.of(own.Cluster)) > 0 {
			keys = append(keys, keyOf(own.Cluster))
		}
	}
	return keys
}

// runningBy returns the keys of the clusters in which the hooks of obj, a WorkspaceType,
// have requests.
func (c *Content) runningBy(obj runtime.Object) []controller.Key {
	var keys []controller.Key
	for _, own := range controller.OwnKey(obj) {
		for _, cluster := range c.running.clusters(func(a *attempt) bool {
			return a.hook.Cluster == own.Cluster && a.hook.Type == own.Name
		}) {
			keys = append(keys, keyOf(cluster))
		}
	}
	return keys
}

// allRunning returns the keys of all clusters in which requests run.
func (c *Content) allRunning() []controller.Key {
	var keys []controller.Key
	for _, cluster := range c.running.clusters(func(*attempt) bool { return true }) {
		keys = append(keys, keyOf(cluster))
	}
	return keys
}

func keyOf(cluster logicalcluster.Name) controller.Key { return controller.Key{Cluster: cluster} }

// reconcile ends the requests in a cluster that would be refused now.
func (c *Content) reconcile(ctx context.Context, key controller.Key) error {
	var again error
	for _, a := range c.running.of(key.Cluster) {
		now, err := c.decide(ctx, a)
		var refused *refusal
		switch {
		case errors.As(err, &refused):
			c.running.end(a, refused)
		case err != nil:
			return err
		case a.granted.Load() == nil:
			// It may be granted by what has just changed.
			again = controller.After(lookAgain)
		case !a.granted.Load().as(now):
			c.running.end(a, refuse(http.StatusForbidden, "the caller acts as somebody else now", "the workspace type of %s %q has changed", nounOf(a.hook.Kind), a.hook.ID))
		}
	}
	return again
}
