package storagemigration

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

const (
	// workers is how many workspaces are worked at at a time.
	workers = 4
	// pace is how many objects are rewritten in a second, in all workspaces together, and
	// burst how many at once. It is a fraction of what etcd takes, and the rest is for
	// clients.
	pace  = 1000
	burst = 200
	// turn is how many objects of a workspace are rewritten before it is another's turn.
	turn = 500
	// later is when what could not be converted at the moment is tried again.
	later = 5 * time.Minute
)

// Catalog knows what workspaces have bound, and their objects.
type Catalog interface {
	// Migratable returns the resources of a cluster that may have objects to rewrite.
	Migratable(logicalcluster.Name) []schema.GroupResource
	// Stale says whether an object is to be rewritten, and StaleObjects returns all of a
	// resource that are, in order.
	Stale(logicalcluster.Name, storage.Resource, runtime.Object) bool
	StaleObjects(context.Context, logicalcluster.Name, schema.GroupResource) ([]storage.ObjectName, error)
	// Migrate rewrites an object if that is still to be done.
	Migrate(context.Context, logicalcluster.Name, schema.GroupResource, storage.ObjectName) (migrated bool, err error)
}

// Config is what the controller needs.
type Config struct {
	Catalog Catalog
	// Unconvertible says whether an error of the catalog is the object's fault.
	Unconvertible func(error) bool
	// Settle is how long objects are left alone after something has changed: watches that
	// began before know nothing of a version that was not there then. 0 is allowed.
	Settle time.Duration
	// Clock tells the time.
	Clock clock.PassiveClock
}

// Migration is the controller, and what tells it where to look: it is a
// controller.Listener.
type Migration struct {
	Controller *controller.Controller

	config  Config
	limiter flowcontrol.RateLimiter

	mu sync.Mutex
	// working are those that are being worked at, and how far they have come.
	working map[controller.Key]*work
}

// work is how far a resource of a workspace has come.
type work struct {
	progress
	// due is when it begins.
	due time.Time
	// changed says that there may be something to do before that. It is guarded by the
	// lock of the Migration, the rest belongs to the one who reconciles.
	changed bool
}

// progress is what has been done.
type progress struct {
	// after is the last object.
	after            storage.ObjectName
	migrated, failed int
	// first is the error of the first object that failed.
	first error
	// again says that there are objects to try again later.
	again bool
}

// New returns a controller that does nothing until it runs.
func New(config Config) *Migration {
	register()
	m := &Migration{
		config:  config,
		limiter: flowcontrol.NewTokenBucketRateLimiter(pace, burst),
		working: map[controller.Key]*work{},
	}
	m.Controller = controller.New(controller.Options{Name: "storagemigration", Workers: workers, Reconcile: m.reconcile})
	return m
}

// DefinitionsChanged makes the controller look at the objects of what cluster has bound.
func (m *Migration) DefinitionsChanged(cluster logicalcluster.Name) {
	for _, resource := range m.config.Catalog.Migratable(cluster) {
		m.look(cluster, resource)
	}
}

// look makes the controller look at all objects of a resource of a cluster.
func (m *Migration) look(cluster logicalcluster.Name, resource schema.GroupResource) {
	key := keyOf(cluster, resource)
	m.mu.Lock()
	if at := m.working[key]; at != nil {
		at.changed = true
	} else {
		m.working[key] = m.newWork()
	}
	m.mu.Unlock()
	m.Controller.Enqueue(key)
}

// keyOf returns the key of a resource of a cluster: its name is that of the resource.
func keyOf(cluster logicalcluster.Name, resource schema.GroupResource) controller.Key {
	return controller.Key{Cluster: cluster, Name: resource.String()}
}

// reconcile rewrites the next objects of a resource of a workspace.
func (m *Migration) reconcile(ctx context.Context, key controller.Key) error {
	at, wait := m.begin(key)
	if wait > 0 {
		return controller.After(wait)
	}
	names, err := m.config.Catalog.StaleObjects(ctx, key.Cluster, schema.ParseGroupResource(key.Name))
	if err != nil {
		return err
	}
	names = behind(names, at.after)
	for _, name := range names[:min(len(names), turn)] {
		if err := m.migrate(ctx, key, name, &at.progress); err != nil {
			return err
		}
	}
	if len(names) > turn {
		// It is put at the end of the queue when this pass is over.
		m.Controller.Enqueue(key)
		return nil
	}
	m.end(key)
	at.report(ctx, key)
	if at.again {
		return controller.After(later)
	}
	return nil
}

// behind returns those of names, which are in order, that come behind one of them.
func behind(names []storage.ObjectName, after storage.ObjectName) []storage.ObjectName {
	next, found := slices.BinarySearchFunc(names, after, compareNames)
	if found {
		next++
	}
	return names[next:]
}

// migrate rewrites an object when it is time to. Only the end of ctx is an error.
func (m *Migration) migrate(ctx context.Context, key controller.Key, name storage.ObjectName, done *progress) error {
	if err := m.limiter.Wait(ctx); err != nil {
		return err
	}
	migrated, err := m.config.Catalog.Migrate(ctx, key.Cluster, schema.ParseGroupResource(key.Name), name)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	done.count(migrated, err, m.config.Unconvertible)
	done.after = name
	return nil
}

// begin returns how far a resource of a workspace has come, or how long to wait before
// anything is done. If there may be something to do before that, it is begun anew.
func (m *Migration) begin(key controller.Key) (at *work, wait time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at = m.working[key]
	if at == nil || at.changed {
		at = m.newWork()
		m.working[key] = at
	}
	return at, at.due.Sub(m.config.Clock.Now())
}

func (m *Migration) newWork() *work { return &work{due: m.config.Clock.Now().Add(m.config.Settle)} }

// end forgets a resource of a workspace. What has changed in the meantime has put its key
// into the queue again.
func (m *Migration) end(key controller.Key) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.working, key)
}

// count notes what became of an object.
func (p *progress) count(migrated bool, err error, unconvertible func(error) bool) {
	switch {
	case err == nil && migrated:
		p.migrated++
		objects.WithLabelValues(resultMigrated).Inc()
	case err == nil:
	default:
		if p.failed++; p.first == nil {
			p.first = err
		}
		if unconvertible(err) {
			objects.WithLabelValues(resultUnconvertible).Inc()
			return
		}
		p.again = true
		objects.WithLabelValues(resultFailed).Inc()
	}
}

// report writes a line into the log about objects that could not be rewritten, and one
// for those who want to know about those that were.
func (p *progress) report(ctx context.Context, key controller.Key) {
	logger := klog.FromContext(ctx).WithValues("cluster", key.Cluster, "resource", key.Name, "migrated", p.migrated)
	switch {
	case p.failed > 0:
		logger.Error(p.first, "Objects could not be stored in the version of their schema; the first of them", "failed", p.failed, "again", p.again)
	case p.migrated > 0:
		logger.V(2).Info("Objects are stored in the version of their schema")
	}
}

func compareNames(a, b storage.ObjectName) int {
	if c := strings.Compare(a.Namespace, b.Namespace); c != 0 {
		return c
	}
	return strings.Compare(a.Name, b.Name)
}
