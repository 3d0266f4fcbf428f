package catalog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	apistorage "k8s.io/apiserver/pkg/storage"

	"github.com/forkless/kcp/internal/catalog/view"
	"github.com/forkless/kcp/internal/schema"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Stale says whether an object of resource in cluster is stored in another version than
// those that are written there now. It is false for what cluster has not bound.
func (c *Catalog) Stale(cluster logicalcluster.Name, resource storage.Resource, obj runtime.Object) bool {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return false
	}
	served, ok := c.migratable(cluster, resource.GroupResource)
	return ok && served.Identity == resource.Identity && stale(served.Definition, u)
}

// Migratable returns the resources of cluster whose objects may be stored in more than
// one version: those that are bound in several versions.
func (c *Catalog) Migratable(cluster logicalcluster.Name) []apischema.GroupResource {
	var resources []apischema.GroupResource
	for _, served := range c.Definitions(cluster) {
		if migratable(served) {
			resources = append(resources, served.Definition.GroupResource())
		}
	}
	return resources
}

// StaleObjects returns the objects of a bound resource of cluster that are Stale, in
// order, as the watch cache has them. If the store is not open there are none: those who
// listen to it hear of them when it is.
func (c *Catalog) StaleObjects(ctx context.Context, cluster logicalcluster.Name, resource apischema.GroupResource) ([]storage.ObjectName, error) {
	served, ok := c.migratable(cluster, resource)
	if !ok {
		return nil, nil
	}
	shared, ok := c.stores.ifOpen(resourceOf(served))
	if !ok {
		return nil, nil
	}
	list := shared.NewList()
	options := apistorage.ListOptions{
		ResourceVersion:      "0",
		ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
		Recursive:            true,
		Predicate:            apistorage.Everything,
	}
	if err := shared.GetList(logicalcluster.NewContext(ctx, cluster), resourceOf(served).Prefix(), options, list); err != nil {
		return nil, fmt.Errorf("listing %s: %w", resource, err)
	}
	var names []storage.ObjectName
	err := meta.EachListItem(list, func(obj runtime.Object) error {
		if u, ok := obj.(*unstructured.Unstructured); ok && stale(served.Definition, u) {
			names = append(names, storage.ObjectName{Namespace: u.GetNamespace(), Name: u.GetName()})
		}
		return nil
	})
	slices.SortFunc(names, compareNames)
	return names, err
}

// Migrate stores an object of a bound resource of cluster in the version that is written
// there now. It is nobody's change: nothing that clients see of the object becomes another
// but its resource version, and nobody is asked for admission. It is no error if there is
// nothing to do, or nothing to do it with.
func (c *Catalog) Migrate(ctx context.Context, cluster logicalcluster.Name, resource apischema.GroupResource, name storage.ObjectName) (migrated bool, err error) {
	served, ok := c.migratable(cluster, resource)
	if !ok {
		return false, nil
	}
	api, err := c.apis.get(served)
	if err != nil {
		return false, err
	}
	version, err := api.Version(api.StorageVersion())
	if err != nil {
		return false, err
	}
	store, ok := version.Resource.Storage.Storage.(*view.Store)
	if !ok {
		return false, errors.New("the registry has no view for a store")
	}
	return store.Rewrite(logicalcluster.NewContext(ctx, cluster), resourceOf(served).Key(name.Namespace, name.Name))
}

// IsUnconvertible says whether an error of Migrate is the object's fault, or that of the
// rules it is converted by, so that trying again is of no use.
func IsUnconvertible(err error) bool { return view.IsUnconvertible(err) }

// migratable returns what resource is in cluster, if that is bound in several versions.
func (c *Catalog) migratable(cluster logicalcluster.Name, resource apischema.GroupResource) (schema.Served, bool) {
	served, ok := c.Lookup(cluster, resource)
	return served, ok && migratable(served)
}

// migratable says whether objects may be stored in more than one version. The system's own
// are stored as Go types, in one.
func migratable(served schema.Served) bool {
	return served.IsBound() && served.Identity != "" && len(served.Definition.CRD.Spec.Versions) > 1
}

func stale(definition *schema.Definition, u *unstructured.Unstructured) bool {
	version, ok := definition.StorageVersion()
	return ok && u.GroupVersionKind().Version != version
}

func compareNames(a, b storage.ObjectName) int {
	if c := strings.Compare(a.Namespace, b.Namespace); c != 0 {
		return c
	}
	return strings.Compare(a.Name, b.Name)
}
