package garbagecollector

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"unique"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	apistorage "k8s.io/apiserver/pkg/storage"

	"github.com/forkless/kcp/internal/catalog"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

var (
	// errUnknownKind: an owner is of a kind that the cluster does not have. It may come.
	errUnknownKind = errors.New("an owner is of an unknown kind")
	// errMisplaced: a cluster-scoped object refers to an owner in a namespace. It could
	// be any, so the object is left alone.
	errMisplaced = errors.New("a cluster-scoped object has an owner in a namespace")
	// errGap: what was read may be out of date, because changes have gone unheard.
	errGap = errors.New("changes were missed while the owner was read")
)

// The versions at which objects are read.
const (
	fromCache = "0"
	fromEtcd  = ""
)

// read returns an object as it is in the watch cache, which must not be changed, or in
// etcd. If there is none, the error is one of storage.
func (c *Collector) read(ctx context.Context, cluster logicalcluster.Name, at location, version string) (runtime.Object, metav1.Object, error) {
	store, ok := c.config.Layer.Store(at.resource)
	if !ok {
		return nil, nil, fmt.Errorf("the store of %s is not open", at.resource.Prefix())
	}
	obj, err := c.config.Layer.NewObject(at.resource)
	if err != nil {
		return nil, nil, err
	}
	err = store.Get(logicalcluster.NewContext(ctx, cluster), at.resource.Key(at.namespace, at.name), apistorage.GetOptions{ResourceVersion: version}, obj)
	if err != nil {
		return nil, nil, err
	}
	accessor, err := meta.Accessor(obj)
	return obj, accessor, err
}

// classify says what the owners of an object are to it.
func (c *Collector) classify(ctx context.Context, i item, accessor metav1.Object) (map[standing][]types.UID, error) {
	owners := map[standing][]types.UID{}
	for _, ref := range accessor.GetOwnerReferences() {
		standing, err := c.stand(ctx, i, ref)
		if err != nil {
			return nil, err
		}
		owners[standing] = append(owners[standing], ref.UID)
	}
	return owners, nil
}

// stand says what one owner is to an object.
func (c *Collector) stand(ctx context.Context, i item, ref metav1.OwnerReference) (standing, error) {
	known := c.Graph.owner(i.cluster, ref.UID)
	kind, ok := c.kind(i.cluster, ref)
	if known.state == absent && known.fits(i.namespace, ref, kind, ok) {
		// Also if its definition went with it.
		return dangling, nil
	}
	if !ok {
		return 0, errUnknownKind
	}
	at := location{resource: kind.Store, kind: ref.Kind, name: ref.Name}
	switch {
	case !kind.Namespaced:
		return c.lookUp(ctx, i.cluster, ref.UID, at)
	case i.namespace == "":
		if _, err := c.misplaced(ctx, i, ref, at, known); err != nil {
			return 0, err
		}
		return 0, errMisplaced
	}
	at.namespace = i.namespace
	standing, err := c.lookUp(ctx, i.cluster, ref.UID, at)
	if err != nil || standing != dangling {
		return standing, err
	}
	found, err := c.misplaced(ctx, i, ref, at, known)
	if err == nil && !found {
		c.Graph.missed(i.cluster, ref.UID, at.place())
	}
	return dangling, err
}

// misplaced reports it if the owner that is not where an object needs it to be is in
// another namespace, and says whether it is.
func (c *Collector) misplaced(ctx context.Context, i item, ref metav1.OwnerReference, at location, known item) (bool, error) {
	found := known.state == present && known.namespace != "" && known.namespace != at.namespace
	if known.state != present {
		var err error
		if found, err = c.elsewhere(ctx, i.cluster, ref.UID, at); err != nil {
			return false, err
		}
	}
	if found {
		c.report(ctx, i, ref)
	}
	return found, nil
}

// elsewhere looks for an owner by its name in all namespaces of a cluster. That there is none
// only etcd is believed: the owner may be in the cache later than what it owns.
func (c *Collector) elsewhere(ctx context.Context, cluster logicalcluster.Name, uid types.UID, at location) (bool, error) {
	namespaces, err := c.config.Namespaces.List(ctx, cluster)
	if err != nil {
		return false, err
	}
	if err := c.open(at.resource); err != nil {
		return false, err
	}
	round := c.Graph.progress.round(at.resource)
	for _, version := range []string{fromCache, fromEtcd} {
		for n := range namespaces {
			at.namespace = namespaces[n].Name
			_, owner, err := c.read(ctx, cluster, at, version)
			switch {
			case err == nil && owner.GetUID() == uid:
				return true, c.Graph.found(cluster, uid, at.place(), round)
			case err != nil && !apistorage.IsNotFound(err) && version == fromEtcd:
				return false, err
			}
		}
	}
	return false, nil
}

// open opens the store of a resource. Owners of a kind that nobody has asked for yet do not
// exist, but etcd has to say so.
func (c *Collector) open(resource storage.Resource) error {
	if _, ok := c.config.Layer.Store(resource); ok {
		return nil
	}
	return c.config.OpenStore(resource)
}

// kind returns the kind that a reference names, if there can be objects of it.
func (c *Collector) kind(cluster logicalcluster.Name, ref metav1.OwnerReference) (catalog.Kind, bool) {
	kind, ok := c.config.Kinds.OfKind(cluster, schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind))
	return kind, ok && slices.Contains(kind.Verbs, "get")
}

// fits says whether the owner is the one that an object in namespace refers to.
func (i item) fits(namespace string, ref metav1.OwnerReference, kind catalog.Kind, known bool) bool {
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	switch {
	case err != nil || i.name != ref.Name || i.namespace != "" && i.namespace != namespace:
		return false
	case known:
		return i.resource == kind.Store
	default:
		return i.resource.Group == gv.Group && i.kind == ref.Kind
	}
}

// lookUp says what the owner with a UID is that should be at a place.
func (c *Collector) lookUp(ctx context.Context, cluster logicalcluster.Name, uid types.UID, at location) (standing, error) {
	if err := c.open(at.resource); err != nil {
		return 0, err
	}
	round := c.Graph.progress.round(at.resource)
	found := false
	for _, version := range []string{fromCache, fromEtcd} {
		_, owner, err := c.read(ctx, cluster, at, version)
		found = err == nil && owner.GetUID() == uid
		switch {
		case found && phaseOf(owner) != foreground:
			// If it has gone since, the graph will hear of it.
			return solid, c.Graph.found(cluster, uid, at.place(), round)
		case err != nil && !apistorage.IsNotFound(err) && version == fromEtcd:
			return 0, err
		}
		// That it does not exist, or waits for its dependents, only etcd is believed.
	}
	if found {
		return waiting, nil
	}
	return dangling, nil
}

func (l location) place() place {
	return place{
		resource: unique.Make(l.resource), namespace: unique.Make(l.namespace), kind: unique.Make(l.kind), name: l.name,
	}
}

// sameOwners says whether references are to the same owners, blocking or not.
func sameOwners(a, b []metav1.OwnerReference) bool {
	return slices.EqualFunc(a, b, func(a, b metav1.OwnerReference) bool {
		return a.UID == b.UID && a.Name == b.Name && a.Kind == b.Kind && a.APIVersion == b.APIVersion
	})
}
