package catalog

import (
	"maps"
	"slices"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/internal/schema"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// index knows the definitions of each cluster. Clusters without bindings and definitions
// of their own have no entry.
type index struct {
	source Source

	mu       sync.RWMutex
	clusters map[logicalcluster.Name]*clusterEntry
	// definitions and lists are interned by content and counted. bound are the lists that
	// single bindings give, lists what clusters have in all.
	definitions map[apiKey]*counted[*schema.Definition]
	bound       map[listKey]*counted[[]schema.Served]
	lists       map[listKey]*counted[[]schema.Served]
}

type clusterEntry struct {
	// bindings are what the cluster has bound, sorted by the names of the bindings.
	bindings []boundEntry
	// own are the cluster's CustomResourceDefinitions that are served, sorted.
	own []schema.Served
	// merged is own below bindings below base, which is what the source said when it was
	// merged.
	merged, base []schema.Served
	key          listKey
}

type counted[T any] struct {
	value T
	uses  int
}

// change is what Set or Delete have changed. A nil definition means none.
type change struct {
	before, after *schema.Definition
	// dropped is set if no cluster uses the definition any more.
	dropped *schema.Definition
	// first says that no cluster had the definition that is after before.
	first bool
}

func newIndex(source Source) *index {
	return &index{
		source:      source,
		clusters:    map[logicalcluster.Name]*clusterEntry{},
		definitions: map[apiKey]*counted[*schema.Definition]{},
		bound:       map[listKey]*counted[[]schema.Served]{},
		lists:       map[listKey]*counted[[]schema.Served]{},
	}
}

// list returns the definitions of cluster. The slice is immutable.
func (x *index) list(cluster logicalcluster.Name) []schema.Served {
	base := x.source.Definitions(cluster)
	x.mu.RLock()
	entry := x.clusters[cluster]
	if entry == nil {
		x.mu.RUnlock()
		return base
	}
	if sameList(entry.base, base) {
		defer x.mu.RUnlock()
		return entry.merged
	}
	x.mu.RUnlock()

	x.mu.Lock()
	defer x.mu.Unlock()
	// It may be gone, or merged by somebody else, in the meantime.
	if entry = x.clusters[cluster]; entry == nil {
		return base
	}
	if !sameList(entry.base, base) {
		x.merge(entry, base)
	}
	return entry.merged
}

// own returns the definition that cluster's own CustomResourceDefinition called name
// is served by, whatever the source says.
func (x *index) own(cluster logicalcluster.Name, name string) (schema.Served, bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	entry := x.clusters[cluster]
	if entry == nil {
		return schema.Served{}, false
	}
	i := entry.find(name)
	if i < 0 {
		return schema.Served{}, false
	}
	return entry.own[i], true
}

// set makes crd the definition of its name in cluster. announce is called just before
// that with the definition there was, nil if there was none, and the one there will be.
func (x *index) set(cluster logicalcluster.Name, crd *apiextensionsv1.CustomResourceDefinition, terminating bool,
	announce func(before, after *schema.Definition),
) (change, error) {
	base := x.source.Definitions(cluster)
	before, known := x.own(cluster, crd.Name)
	var definition *schema.Definition
	if known && sameContent(before.Definition.CRD, crd) {
		// Most events are of conditions; the content need not be hashed again.
		definition = before.Definition
	} else {
		var err error
		if definition, err = schema.New(crd); err != nil {
			return change{}, err
		}
	}
	announce(before.Definition, definition)

	x.mu.Lock()
	defer x.mu.Unlock()
	entry := x.clusters[cluster]
	if entry == nil {
		entry = &clusterEntry{}
		x.clusters[cluster] = entry
	}
	first := x.definitions[apiKey{hash: definition.Hash, identity: storage.CustomResources}] == nil
	definition = x.use(definition, storage.CustomResources)
	after := schema.Served{Definition: definition, Identity: storage.CustomResources, Terminating: terminating}
	result := change{after: definition, first: first}
	if i := entry.find(crd.Name); i >= 0 {
		result.before = entry.own[i].Definition
		result.dropped = x.drop(result.before, storage.CustomResources)
		if entry.own[i] == after {
			return result, nil
		}
		// Changed in a copy: who has the list keeps it as it was.
		entry.own = slices.Clone(entry.own)
		entry.own[i] = after
	} else {
		entry.own = append(slices.Clone(entry.own), after)
	}
	slices.SortFunc(entry.own, schema.Served.Compare)
	x.merge(entry, base)
	return result, nil
}

// remove forgets the definition called name in cluster.
func (x *index) remove(cluster logicalcluster.Name, name string) change {
	base := x.source.Definitions(cluster)
	x.mu.Lock()
	defer x.mu.Unlock()
	entry := x.clusters[cluster]
	if entry == nil {
		return change{}
	}
	i := entry.find(name)
	if i < 0 {
		return change{}
	}
	result := change{before: entry.own[i].Definition}
	result.dropped = x.drop(result.before, storage.CustomResources)
	entry.own = slices.Delete(slices.Clone(entry.own), i, i+1)
	x.settle(cluster, entry, base)
	return result
}

// settle merges what is left of entry, or forgets it if that is nothing. The caller holds
// mu.
func (x *index) settle(cluster logicalcluster.Name, entry *clusterEntry, base []schema.Served) {
	if len(entry.own) == 0 && len(entry.bindings) == 0 {
		x.release(entry)
		delete(x.clusters, cluster)
		return
	}
	x.merge(entry, base)
}

// anyOf returns one of the definitions that clusters have of resource, themselves or by a
// binding, that serves version, and the identities under which there are objects of
// resource, sorted. ok is false if there is none.
func (x *index) anyOf(resource apischema.GroupResource, version string) (definition *schema.Definition, identities []string, ok bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	found := map[string]struct{}{}
	for key, interned := range x.definitions {
		if interned.value.GroupResource() != resource {
			continue
		}
		found[key.identity] = struct{}{}
		if interned.value.Serves(version) {
			definition = interned.value
		}
	}
	return definition, slices.Sorted(maps.Keys(found)), definition != nil
}

// defines says whether any cluster has a definition of resource itself, or has bound one.
func (x *index) defines(resource storage.Resource) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	for key, interned := range x.definitions {
		if key.identity == resource.Identity && interned.value.GroupResource() == resource.GroupResource {
			return true
		}
	}
	return false
}

// resources returns the resources that clusters have definitions of themselves or have
// bound, but for the system's own.
func (x *index) resources() []storage.Resource {
	x.mu.RLock()
	defer x.mu.RUnlock()
	resources := map[storage.Resource]struct{}{}
	for key, interned := range x.definitions {
		if key.identity != "" {
			resources[storage.Resource{GroupResource: interned.value.GroupResource(), Identity: key.identity}] = struct{}{}
		}
	}
	return slices.Collect(maps.Keys(resources))
}

// uses says whether served is the system's own, which stays for good, or some cluster has
// it.
func (x *index) uses(served schema.Served) bool {
	if served.Identity == "" {
		return true
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.definitions[apiKey{hash: served.Definition.Hash, identity: served.Identity}] != nil
}

// names calls visit with the cluster and name of each CustomResourceDefinition known.
func (x *index) names(visit func(cluster logicalcluster.Name, name string)) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	for cluster, entry := range x.clusters {
		for _, served := range entry.own {
			visit(cluster, served.Definition.CRD.Name)
		}
	}
}

// merge sets what entry makes together with base, interned. The caller holds mu.
func (x *index) merge(entry *clusterEntry, base []schema.Served) {
	x.release(entry)
	layers := make([][]schema.Served, 0, len(entry.bindings)+2)
	layers = append(layers, base)
	for i := range entry.bindings {
		layers = append(layers, entry.bindings[i].served)
	}
	merged := merge(append(layers, entry.own)...)
	entry.key, entry.base = keyOf(merged), base
	interned := x.lists[entry.key]
	if interned == nil {
		interned = &counted[[]schema.Served]{value: merged}
		x.lists[entry.key] = interned
	}
	interned.uses++
	entry.merged = interned.value
}

// release gives up the interned list of entry. The caller holds mu.
func (x *index) release(entry *clusterEntry) {
	interned := x.lists[entry.key]
	if interned == nil {
		return
	}
	if interned.uses--; interned.uses == 0 {
		delete(x.lists, entry.key)
	}
	entry.key = listKey{}
}

// use returns the interned definition with the content of definition, counted once more
// for an identity. The caller holds mu.
func (x *index) use(definition *schema.Definition, identity string) *schema.Definition {
	key := apiKey{hash: definition.Hash, identity: identity}
	interned := x.definitions[key]
	if interned == nil {
		interned = &counted[*schema.Definition]{value: definition}
		x.definitions[key] = interned
	}
	interned.uses++
	return interned.value
}

// drop counts definition once less for an identity and returns it if that was the last
// use. The caller holds mu.
func (x *index) drop(definition *schema.Definition, identity string) *schema.Definition {
	key := apiKey{hash: definition.Hash, identity: identity}
	interned := x.definitions[key]
	if interned.uses--; interned.uses > 0 {
		return nil
	}
	delete(x.definitions, key)
	return definition
}

func (e *clusterEntry) find(name string) int {
	return slices.IndexFunc(e.own, func(s schema.Served) bool { return s.Definition.CRD.Name == name })
}

// sameContent says whether crd makes the definition that known is the CRD of.
func sameContent(known, crd *apiextensionsv1.CustomResourceDefinition) bool {
	return equality.Semantic.DeepEqual(known.Status.AcceptedNames, crd.Status.AcceptedNames) &&
		equality.Semantic.DeepEqual(known.Spec, crd.Spec)
}
