package catalog

import (
	"errors"
	"fmt"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	apistorage "k8s.io/apiserver/pkg/storage"

	"github.com/forkless/kcp/internal/catalog/compiled"
	"github.com/forkless/kcp/internal/schema"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Config is what a Catalog needs from the rest of the server.
type Config struct {
	// Stores opens the stores of resources. Required.
	Stores Opener
	// Source says what clusters have beside their own CustomResourceDefinitions.
	// Required; EveryCluster(nil) stands for nothing.
	Source Source
	// TypedKind returns how the objects of a resource with an empty identity are
	// stored, if they are stored as Go types. May be nil.
	TypedKind func(apischema.GroupResource) (storage.Kind, bool)
	// Converter returns what converts between the versions of what is served, nil where
	// that is as the definition says. It is called once for each definition, whatever the
	// number of clusters that have it. May be nil.
	Converter func(schema.Served) (compiled.Converter, error)
	// Admission admits writes. Required.
	Admission admission.Interface
	// Authorizer is asked whether an update may create. Required.
	Authorizer authorizer.Authorizer
	// Show, if set, returns what clients are shown of an object. It must not change it, and
	// may share memory with it.
	Show func(*unstructured.Unstructured) *unstructured.Unstructured
	// KindsChanged, if set, is called after the kinds of a cluster have changed, and must
	// be quick.
	KindsChanged func(logicalcluster.Name)
	// MinRequestTimeout is how long lists and watches without a timeout of their own
	// last at least.
	MinRequestTimeout time.Duration
	// MaxRequestBodyBytes bounds the bodies of writes; zero means no bound.
	MaxRequestBodyBytes int64
	// DeleteCollectionWorkers is how many objects a deletecollection deletes at a time;
	// one if 0.
	DeleteCollectionWorkers int
}

// Catalog knows and serves the APIs of all clusters. Its methods may be called
// concurrently.
type Catalog struct {
	config  Config
	index   *index
	stores  *stores
	apis    *apis
	watches *watches
	// guestGrace is guestGrace but in tests.
	guestGrace time.Duration
}

// New returns a catalog that knows what config.Source says and nothing else yet. It
// opens no store.
func New(config Config) (*Catalog, error) {
	switch {
	case config.Stores == nil:
		return nil, errors.New("catalog: Stores is required")
	case config.Source == nil:
		return nil, errors.New("catalog: Source is required")
	case config.Admission == nil:
		return nil, errors.New("catalog: Admission is required")
	case config.Authorizer == nil:
		return nil, errors.New("catalog: Authorizer is required")
	}
	converters, err := compiled.NewConverters()
	if err != nil {
		return nil, fmt.Errorf("catalog: %w", err)
	}
	c := &Catalog{config: config, index: newIndex(config.Source), watches: newWatches(), guestGrace: guestGrace}
	c.stores = &stores{
		opener:       config.Stores,
		typedKind:    config.TypedKind,
		definitionOf: c.definitionOf,
		open:         map[storage.Resource]*openStore{},
	}
	c.apis = &apis{config: config, converters: converters, stores: c.stores, used: c.index.uses, all: map[apiKey]*apiEntry{}}
	return c, nil
}

// Definitions returns what is established in cluster beside the built-in APIs, sorted
// by group and resource. The slice is immutable; a change makes a new one, and
// clusters with equal definitions share one.
func (c *Catalog) Definitions(cluster logicalcluster.Name) []schema.Served {
	return c.index.list(cluster)
}

// Lookup returns what resource is in cluster. ok is false if nothing but a built-in
// API can be of that name there.
func (c *Catalog) Lookup(cluster logicalcluster.Name, resource apischema.GroupResource) (served schema.Served, ok bool) {
	return find(c.index.list(cluster), resource)
}

// Set tells the catalog of crd in cluster, or of a change of it. It is served if its
// names are accepted. Set may be called with what is known already. crd is only read
// and is not retained.
func (c *Catalog) Set(cluster logicalcluster.Name, crd *apiextensionsv1.CustomResourceDefinition) error {
	if !servable(crd) {
		c.Delete(cluster, crd.Name)
		return nil
	}
	terminating := crd.DeletionTimestamp != nil || apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.Terminating)
	settle := func() {}
	change, err := c.index.set(cluster, crd, terminating, func(before, after *schema.Definition) {
		settle = c.stores.selectable(cluster, localResource(after.GroupResource()), before, after)
	})
	if err != nil {
		return err
	}
	settle()
	c.apply(cluster, change)
	return nil
}

// Delete tells the catalog that cluster has no CustomResourceDefinition called name.
func (c *Catalog) Delete(cluster logicalcluster.Name, name string) {
	c.apply(cluster, c.index.remove(cluster, name))
}

// Names calls visit with each CustomResourceDefinition the catalog has been told of
// and serves. visit must not call the catalog.
func (c *Catalog) Names(visit func(cluster logicalcluster.Name, name string)) {
	c.index.names(visit)
}

// Resources returns the resources that clusters define themselves or have bound, but for
// the system's own.
func (c *Catalog) Resources() []storage.Resource { return c.index.resources() }

// Store returns the store of a resource as it is stored, for all clusters, opening it
// if need be: of Go types if TypedKind knows it, otherwise of unstructured objects.
// It is for controllers; what it returns must not be changed, and what is written
// through it is neither validated nor admitted.
func (c *Catalog) Store(resource storage.Resource) (apistorage.Interface, error) {
	shared, err := c.stores.get(resource)
	if err != nil {
		return nil, err
	}
	return shared.Interface, nil
}

// apply brings what has been derived from definitions up to date.
func (c *Catalog) apply(cluster logicalcluster.Name, change change) {
	c.apis.drop(change.dropped, storage.CustomResources)
	if change.before != change.after && c.config.KindsChanged != nil {
		c.config.KindsChanged(cluster)
	}
	if change.first {
		c.watches.cutAll(schema.Served{Definition: change.after, Identity: storage.CustomResources})
	}
	if change.before == nil || change.before == change.after {
		return
	}
	resource := change.before.GroupResource()
	c.watches.cut(watchKey{cluster: cluster, resource: resource})
	if change.after == nil || change.after.GroupResource() != resource {
		c.stores.late.drop(cluster, localResource(resource))
		c.closeUnused(localResource(resource))
	}
}

// closeUnused closes the store of a resource that no cluster has any more, once watches
// have had the time that cut leaves them. The system's own stay open.
func (c *Catalog) closeUnused(resource storage.Resource) {
	used := func() bool { return c.index.defines(resource) }
	if isOwn(resource) || used() {
		return
	}
	time.AfterFunc(2*c.watches.grace, func() { c.stores.close(resource, used) })
}

// localResource returns what holds the objects of a resource that clusters define
// themselves.
func localResource(resource apischema.GroupResource) storage.Resource {
	return storage.Resource{GroupResource: resource, Identity: storage.CustomResources}
}

// definitionOf returns the definition of the objects of resource in cluster.
func (c *Catalog) definitionOf(cluster logicalcluster.Name, resource storage.Resource) (*schema.Definition, bool) {
	served, ok := c.Lookup(cluster, resource.GroupResource)
	if !ok || served.Identity != resource.Identity {
		return nil, false
	}
	return served.Definition, true
}

// servable says whether crd is to be served. One whose names were accepted once stays
// served while a conflict over new ones lasts.
func servable(crd *apiextensionsv1.CustomResourceDefinition) bool {
	return crd.Status.AcceptedNames.Plural != "" && apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.Established)
}
