package apibinding

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"

	"github.com/forkless/kcp/internal/binding"
	"github.com/forkless/kcp/internal/boundcrd"
	"github.com/forkless/kcp/internal/catalog"
	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/exportref"
	"github.com/forkless/kcp/internal/schema"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/storage/cached"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

const workers = 16

// Catalog serves what is bound.
type Catalog interface {
	Bind(cluster logicalcluster.Name, binding string, version uint64, served []schema.Served)
	Unbind(cluster logicalcluster.Name, binding string)
	Bindings(visit func(cluster logicalcluster.Name, binding string))
	DeleteBoundInstances(ctx context.Context, cluster logicalcluster.Name, definition *schema.Definition, identity string) error
	BoundInstances(ctx context.Context, cluster logicalcluster.Name, definition *schema.Definition, identity string) ([]catalog.Instance, error)
}

// Config is what the controller works with. All fields are required.
type Config struct {
	Layer       *storage.Layer
	APIs        *cached.APIs
	Clusters    cached.LogicalClusterReader
	Definitions cached.DefinitionReader
	// Bound makes the definitions by which schemas are served, and Identities says where
	// their objects are stored.
	Bound      *boundcrd.Definitions
	Identities *boundcrd.Identities
	Catalog    Catalog
	// Exports finds what bindings refer to.
	Exports *exportref.Resolver
	// Reserved returns the built-in and system APIs that a cluster has in a group.
	Reserved func(in logicalcluster.Name, group string) []binding.Rival
	// Freed is called when resources of a group have become free in a cluster.
	Freed func(ctx context.Context, in logicalcluster.Name, group string) error
	// Locks keep apart who takes and gives back resources of a cluster.
	Locks *controller.ClusterLocks
	Clock clock.PassiveClock
}

// Controller is the controller of bindings.
type Controller struct {
	*controller.Controller
	r *reconciler
}

type reconciler struct {
	Config
	collector
	stored    *stored
	announced announcements
}

// New returns the controller.
func New(config Config) (*Controller, error) {
	r := &reconciler{
		Config:    config,
		collector: collector{definitions: config.Definitions, index: newIndex(), clock: config.Clock},
		stored:    newStored(config.Definitions, config.Bound),
	}
	var sources []controller.Source
	for _, source := range []struct {
		resource storage.Resource
		keys     func(runtime.Object) []controller.Key
		known    func() []controller.Key
		// patient are those of which one object concerns all bindings to an export: new
		// bindings of others do not wait for ten thousand of these.
		patient bool
	}{
		{cached.APIBindings, r.ofBinding, r.known, false},
		{cached.APIExports, r.ofExport, nil, true},
		{cached.APIResourceSchemas, r.ofSchema, nil, true},
		{cached.APIConversions, r.ofSchema, nil, true},
		{cached.CustomResourceDefinitions, r.ofDefinition, nil, false},
	} {
		store, ok := config.Layer.Store(source.resource)
		if !ok {
			return nil, fmt.Errorf("the store of %s is not open", source.resource.GroupResource)
		}
		sources = append(sources, controller.Source{
			Store: store, Prefix: source.resource.Prefix(), Keys: source.keys, Known: source.known, Patient: source.patient,
		})
	}
	c := controller.New(controller.Options{Name: "apibinding", Workers: workers, Sources: sources, Reconcile: r.reconcile})
	r.enqueue, r.synced = c.Enqueue, c.Synced()
	return &Controller{Controller: c, r: r}, nil
}

// Names returns what is bound in a group of a cluster, none older than the last write.
func (c *Controller) Names(ctx context.Context, in logicalcluster.Name, group string) ([]binding.Rival, error) {
	bindings, err := c.r.APIs.CurrentBindings(ctx, in)
	if err != nil {
		return nil, err
	}
	var names []binding.Rival
	for i := range bindings {
		for _, rival := range binding.OfBinding(&bindings[i], c.r.definitionOf(ctx)) {
			if rival.Resource.Group == group {
				names = append(names, rival)
			}
		}
	}
	return names, nil
}

// ofBinding returns the keys of a binding that has changed, and of those in its workspace
// that wait for something to be free.
func (r *reconciler) ofBinding(obj runtime.Object) []controller.Key {
	keys := controller.OwnKey(obj)
	if len(keys) == 0 {
		return nil
	}
	return append(keys, r.index.waitingIn(keys[0].Cluster)...)
}

// ofExport returns the keys of the bindings to an export.
func (r *reconciler) ofExport(obj runtime.Object) []controller.Key {
	keys := controller.OwnKey(obj)
	export, ok := obj.(*apisv1alpha2.APIExport)
	if len(keys) == 0 || !ok {
		return nil
	}
	return r.bindingsOf(keys[0].Cluster, export)
}

func (r *reconciler) bindingsOf(in logicalcluster.Name, export *apisv1alpha2.APIExport) []controller.Key {
	keys := r.index.referringTo(in.String(), export.Name)
	if path := export.Annotations[logicalcluster.PathAnnotationKey]; path != "" && path != in.String() {
		keys = append(keys, r.index.referringTo(path, export.Name)...)
	}
	return keys
}

// ofSchema returns the keys of the bindings to exports that offer a schema, or that of the
// name of an APIConversion.
func (r *reconciler) ofSchema(obj runtime.Object) []controller.Key {
	own := controller.OwnKey(obj)
	if len(own) == 0 {
		return nil
	}
	// It only reads what is in memory, and nothing ends it.
	exports, err := r.APIs.Exports(context.Background(), own[0].Cluster)
	if err != nil {
		return nil
	}
	var keys []controller.Key
	for i := range exports {
		for _, resource := range exports[i].Spec.Resources {
			if resource.Schema == own[0].Name {
				keys = append(keys, r.bindingsOf(own[0].Cluster, &exports[i])...)
				break
			}
		}
	}
	return keys
}

// ofDefinition returns the keys of the bindings that wait for a definition of their
// workspace to go; a bound definition has a key of its own.
func (r *reconciler) ofDefinition(obj runtime.Object) []controller.Key {
	own := controller.OwnKey(obj)
	if len(own) == 0 {
		return nil
	}
	if own[0].Cluster == logicalcluster.BoundCRDs {
		r.stored.changed(own[0].Name)
		return own
	}
	return r.index.waitingIn(own[0].Cluster)
}

// known returns the keys of all bindings that something is remembered of.
func (r *reconciler) known() []controller.Key {
	var keys []controller.Key
	r.Catalog.Bindings(func(cluster logicalcluster.Name, name string) {
		keys = append(keys, controller.Key{Cluster: cluster, Name: name})
	})
	return keys
}

// definitionOf returns what a bound resource is served by, as package binding asks for it.
func (r *reconciler) definitionOf(ctx context.Context) func(apisv1alpha2.BoundAPIResource) *schema.Definition {
	return func(bound apisv1alpha2.BoundAPIResource) *schema.Definition {
		definition, err := r.stored.get(ctx, bound.Schema.UID)
		if err != nil {
			return nil
		}
		return definition
	}
}
