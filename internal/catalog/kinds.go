package catalog

import (
	"slices"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	"k8s.io/apimachinery/pkg/api/meta"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/internal/schema"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Builtins are the APIs that every cluster has without a definition.
type Builtins interface {
	// Groups returns them as discovery describes them, the core group under the name "".
	Groups() ([]apidiscoveryv2.APIGroupDiscovery, error)
}

// Kind is a kind that a cluster serves in one version, with its resource.
type Kind struct {
	Resource apischema.GroupVersionResource
	Kind     apischema.GroupVersionKind
	// Singular is the name of the resource for one object.
	Singular string
	// Namespaced says whether its objects live in namespaces.
	Namespaced bool
	// Verbs are what can be done with it, sorted. They are shared and must not be changed.
	Verbs []string
	// Store names what holds its objects, if it has any: reviews have none, and no verb
	// but create.
	Store storage.Resource
}

// Kinds answers which kinds and resources there are in a cluster, built-in ones
// included. It keeps nothing per cluster.
type Kinds struct {
	catalog  *Catalog
	builtins Builtins
}

// NewKinds returns the kinds of the built-in APIs and of those in a catalog.
func NewKinds(builtins Builtins, catalog *Catalog) *Kinds {
	return &Kinds{catalog: catalog, builtins: builtins}
}

// OfKind returns the kind that cluster serves under this name. ok is false if it serves
// none, or not in this version.
func (k *Kinds) OfKind(cluster logicalcluster.Name, gvk apischema.GroupVersionKind) (kind Kind, ok bool) {
	for candidate := range k.of(cluster, gvk.Group) {
		if candidate.Kind == gvk {
			return candidate, true
		}
	}
	return Kind{}, false
}

// OfResource returns the kind of a resource of cluster. ok is false if there is none, or
// not in this version.
func (k *Kinds) OfResource(cluster logicalcluster.Name, gvr apischema.GroupVersionResource) (kind Kind, ok bool) {
	for candidate := range k.of(cluster, gvr.Group) {
		if candidate.Resource == gvr {
			return candidate, true
		}
	}
	return Kind{}, false
}

// All returns everything that cluster serves, in every version: the groups of the
// built-in APIs first, the versions of a resource in order of preference.
func (k *Kinds) All(cluster logicalcluster.Name) []Kind {
	var all []Kind
	for kind := range k.every(cluster) {
		all = append(all, kind)
	}
	return all
}

// Mapper returns the kinds of cluster, as they are now, as a RESTMapper.
func (k *Kinds) Mapper(cluster logicalcluster.Name) meta.RESTMapper {
	all := k.All(cluster)
	var versions []apischema.GroupVersion
	for _, kind := range all {
		if gv := kind.Kind.GroupVersion(); !slices.Contains(versions, gv) {
			versions = append(versions, gv)
		}
	}
	mapper := meta.NewDefaultRESTMapper(versions)
	for _, kind := range all {
		scope := meta.RESTScopeRoot
		if kind.Namespaced {
			scope = meta.RESTScopeNamespace
		}
		mapper.AddSpecific(kind.Kind, kind.Resource, kind.Resource.GroupVersion().WithResource(kind.Singular), scope)
	}
	return mapper
}

// of iterates over what cluster serves in a group.
func (k *Kinds) of(cluster logicalcluster.Name, group string) func(yield func(Kind) bool) {
	return func(yield func(Kind) bool) {
		for kind := range k.every(cluster) {
			if kind.Kind.Group == group && !yield(kind) {
				return
			}
		}
	}
}

func (k *Kinds) every(cluster logicalcluster.Name) func(yield func(Kind) bool) {
	return func(yield func(Kind) bool) {
		groups, err := k.builtins.Groups()
		if err != nil {
			// It would be a mistake in what upstream installs, found by the first test.
			panic(err)
		}
		for i := range groups {
			if !eachBuiltin(&groups[i], yield) {
				return
			}
		}
		for _, served := range k.catalog.Definitions(cluster) {
			if !eachVersion(served, yield) {
				return
			}
		}
	}
}

func eachBuiltin(group *apidiscoveryv2.APIGroupDiscovery, yield func(Kind) bool) bool {
	for i := range group.Versions {
		version := &group.Versions[i]
		gv := apischema.GroupVersion{Group: group.Name, Version: version.Version}
		for j := range version.Resources {
			resource := &version.Resources[j]
			gvr := gv.WithResource(resource.Resource)
			kind := Kind{
				Resource:   gvr,
				Kind:       gv.WithKind(resource.ResponseKind.Kind),
				Singular:   resource.SingularResource,
				Namespaced: resource.Scope == apidiscoveryv2.ScopeNamespace,
				Verbs:      resource.Verbs,
				Store:      storage.Resource{GroupResource: builtinStore(gvr.GroupResource())},
			}
			if !yield(kind) {
				return false
			}
		}
	}
	return true
}

// builtinStore returns what the store of a built-in resource is called. Events have two
// groups and one store.
func builtinStore(resource apischema.GroupResource) apischema.GroupResource {
	if resource == (apischema.GroupResource{Group: "events.k8s.io", Resource: "events"}) {
		return apischema.GroupResource{Resource: "events"}
	}
	return resource
}

func eachVersion(served schema.Served, yield func(Kind) bool) bool {
	definition := served.Definition
	resource, kind := definition.GroupResource(), definition.GroupKind()
	for _, version := range definition.ServedVersions() {
		kind := Kind{
			Resource:   resource.WithVersion(version),
			Kind:       kind.WithVersion(version),
			Singular:   definition.CRD.Status.AcceptedNames.Singular,
			Namespaced: definition.Namespaced(),
			Verbs:      served.Verbs(),
			Store:      storage.Resource{GroupResource: resource, Identity: served.Identity},
		}
		if !yield(kind) {
			return false
		}
	}
	return true
}
