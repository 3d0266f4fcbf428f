package permissionclaim

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/internal/claimed"
	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/permissionclaims"
	kcpschema "github.com/forkless/kcp/internal/schema"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/storage/cached"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// The bindings that are looked at at a time, and the resources that are labeled.
const (
	watchers = 2
	labelers = 4
)

// Config is what the controllers work with. All of it is required.
type Config struct {
	Layer *storage.Layer
	APIs  *cached.APIs
	Index *claimed.Index
	// Lookup returns what a resource of a cluster is served by, if not as a built-in one.
	Lookup func(logicalcluster.Name, schema.GroupResource) (kcpschema.Served, bool)
	// OpenStore makes sure that the store of a resource is open.
	OpenStore func(storage.Resource) error
	// EventTTL is how long events are kept, in seconds.
	EventTTL uint64
	// Settled is closed when Lookup knows all that is bound.
	Settled <-chan struct{}
}

// New returns the controllers, and the listener that has to hear of all objects for them.
func New(config Config) (watcher, labeler *controller.Controller, listener controller.Listener, err error) {
	bindings, ok := config.Layer.Store(cached.APIBindings)
	if !ok {
		return nil, nil, nil, errors.New("the store of apibindings is not open")
	}
	l := &labels{Config: config, changed: newChanges(), waiting: newWaiting()}
	labeler = controller.New(controller.Options{Name: "permission-claim-labels", Workers: labelers, Reconcile: l.reconcile})
	w := &watch{Config: config, changed: l.changed, enqueue: labeler.Enqueue}
	watcher = controller.New(controller.Options{
		Name:    "permission-claims",
		Workers: watchers,
		Sources: []controller.Source{{
			Store: bindings, Prefix: cached.APIBindings.Prefix(), Keys: controller.OwnKey, Known: config.Index.Bindings,
		}},
		Reconcile: w.reconcile,
	})
	return watcher, labeler, &feed{index: config.Index, enqueue: labeler.Enqueue, waiting: l.waiting}, nil
}

// watch tells the index of bindings.
type watch struct {
	Config
	changed *changes
	enqueue func(controller.Key)
}

func (w *watch) reconcile(ctx context.Context, key controller.Key) error {
	binding, err := w.APIs.Binding(ctx, key.Cluster, key.Name)
	switch {
	case apierrors.IsNotFound(err):
		w.changed.add(key, w.Index.Delete(key.Cluster, key.Name))
	case err != nil:
		return err
	default:
		w.changed.add(key, w.Index.Set(key.Cluster, binding))
	}
	if w.changed.any(key) || err == nil && permissionclaims.WithStatus(binding, nil) != binding {
		w.enqueue(key)
	}
	return nil
}
