package garbagecollector

import (
	"context"
	"errors"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apistorage "k8s.io/apiserver/pkg/storage"
	"k8s.io/utils/clock"

	"github.com/forkless/kcp/internal/catalog"
	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/storage/cached"
	"github.com/forkless/kcp/internal/storage/removal"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// workers is how many objects are looked at at a time, as upstream has it by default.
// What they wait for is mostly the disk, which many writes share.
const workers = 20

// Kinds knows which kinds there are in a cluster.
type Kinds interface {
	OfKind(cluster logicalcluster.Name, gvk schema.GroupVersionKind) (catalog.Kind, bool)
	All(cluster logicalcluster.Name) []catalog.Kind
}

// Config is what the controller works with. All of it is required.
type Config struct {
	Layer *storage.Layer
	Kinds Kinds
	// OpenStore makes sure that the store of a resource is open.
	OpenStore func(storage.Resource) error
	// Namespaces lists the namespaces of a cluster.
	Namespaces cached.NamespaceReader
	// EventTTL is how long events are kept, in seconds.
	EventTTL uint64
	Clock    clock.PassiveClock
}

// Collector is the garbage collector: the graph, which is to be told of all objects, and
// the controller that acts on it.
type Collector struct {
	*controller.Controller
	Graph *Graph

	config  Config
	remover removal.Remover
	// opened is closed when every store that holds objects has been opened.
	opened     chan struct{}
	openedOnce sync.Once
	patience   patience
}

// New returns a collector.
func New(config Config) *Collector {
	c := &Collector{
		config:   config,
		remover:  removal.Remover{Layer: config.Layer, Now: config.Clock.Now},
		opened:   make(chan struct{}),
		patience: patience{clock: config.Clock, since: map[controller.Key]moment{}},
	}
	c.Controller = controller.New(controller.Options{Name: "garbagecollector", Workers: workers, Reconcile: c.reconcile})
	c.Graph = NewGraph(config.Layer.LastWrite, c.Enqueue)
	return c
}

// AllOpen says that every store that holds objects has been opened. Until then nothing is
// let go that may have dependents in the others.
func (c *Collector) AllOpen() { c.openedOnce.Do(func() { close(c.opened) }) }

func (c *Collector) reconcile(ctx context.Context, key controller.Key) error {
	i, ok := c.Graph.item(key)
	switch {
	case ok && i.state == present && i.phase == orphaning:
		return c.orphan(ctx, key, i)
	case ok && i.state == present && i.phase == foreground:
		return c.waitForDependents(ctx, key, i)
	}
	// It does not wait for the graph any more, if it ever did.
	c.patience.forget(key)
	switch {
	case !ok || i.state != present:
		return nil
	case i.collectable():
		return c.judge(ctx, key, i)
	default:
		return nil
	}
}

// collectable says whether an object goes when its owners have gone.
func (i item) collectable() bool {
	return i.state == present && i.phase == staying && i.owned && i.resource != cached.LogicalClusters && !immortal(i)
}

// immortal says whether an object is a namespace that lives as long as its workspace.
func immortal(i item) bool {
	if i.resource != cached.Namespaces {
		return false
	}
	return i.name == metav1.NamespaceDefault || i.name == metav1.NamespaceSystem || i.name == metav1.NamespacePublic
}

// judge decides whether an object is garbage, and acts on it.
func (c *Collector) judge(ctx context.Context, key controller.Key, i item) error {
	obj, accessor, err := c.read(ctx, i.cluster, i.location, fromCache)
	// The cache is ahead of the graph: if the object is gone, the graph will hear of it.
	if apistorage.IsNotFound(err) || err == nil && (compact(accessor.GetUID()) != i.uid || accessor.GetDeletionTimestamp() != nil) {
		return nil
	}
	if err != nil {
		return err
	}
	owners, err := c.classify(ctx, i, accessor)
	switch {
	case errors.Is(err, errMisplaced):
		return nil
	case errors.Is(err, errUnknownKind):
		// In this order: kinds that appear in between are seen by the second look.
		c.Graph.park(key)
		if owners, err = c.classify(ctx, i, accessor); errors.Is(err, errUnknownKind) {
			return nil
		}
	}
	if err != nil {
		return err
	}
	return c.apply(ctx, i, obj, Decide(Input{
		Finalizers: accessor.GetFinalizers(),
		Owners:     owners,
		Dependents: i.dependents,
		Circular:   i.circular,
	}))
}

// apply carries out a plan.
func (c *Collector) apply(ctx context.Context, i item, obj runtime.Object, plan Plan) error {
	if len(plan.Release) > 0 {
		return done(c.release(ctx, i.cluster, i.resource, obj, plan.Release))
	}
	if plan.Delete == "" {
		return nil
	}
	if plan.Unblock {
		if err := c.unblock(ctx, i, obj); err != nil {
			return done(err)
		}
	}
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return err
	}
	decided := accessor.GetOwnerReferences()
	err = c.remover.Delete(ctx, i.cluster, i.resource, obj, plan.Delete, func(current metav1.Object) error {
		if !sameOwners(decided, current.GetOwnerReferences()) {
			return apierrors.NewConflict(i.resource.GroupResource, i.name, errors.New("its owners have changed"))
		}
		return nil
	})
	return done(err)
}

// done returns the error of a write, unless it means that there is nothing left to do.
func done(err error) error {
	if apistorage.IsNotFound(err) || apistorage.IsInvalidObj(err) {
		return nil
	}
	return err
}
