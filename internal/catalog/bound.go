package catalog

import (
	"slices"
	"strings"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/internal/schema"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Bind tells the catalog what the APIBinding called binding gives to cluster, which may be
// nothing. version is the resource version of the binding: what is known of a later one is
// not replaced. Bind may be called with what is known already, and before a binding is
// written, with the version it has then, so that nobody reads that something is bound
// before it is served.
//
// Clusters that have bound the same share what is remembered of it. served is retained and
// must not be changed.
func (c *Catalog) Bind(cluster logicalcluster.Name, binding string, version uint64, served []schema.Served) {
	before := c.index.boundBy(cluster, binding)
	var settle []func()
	for _, after := range served {
		resource := resourceOf(after)
		var known *schema.Definition
		if i := slices.IndexFunc(before, func(s schema.Served) bool { return resourceOf(s) == resource }); i >= 0 {
			known = before[i].Definition
		}
		settle = append(settle, c.stores.selectable(cluster, resource, known, after.Definition))
	}
	change := c.index.bind(cluster, binding, version, served)
	for _, s := range settle {
		s()
	}
	c.applyBound(cluster, change)
}

// Unbind tells the catalog that cluster has no APIBinding called binding.
func (c *Catalog) Unbind(cluster logicalcluster.Name, binding string) {
	c.applyBound(cluster, c.index.unbind(cluster, binding))
}

// Bindings calls visit with each APIBinding that the catalog has been told of. visit must
// not call the catalog.
func (c *Catalog) Bindings(visit func(cluster logicalcluster.Name, binding string)) {
	c.index.eachBinding(visit)
}

// LookupIdentity returns what any cluster has bound of resource under the identity of an
// export.
func (c *Catalog) LookupIdentity(resource apischema.GroupResource, identityHash string) (schema.Served, bool) {
	return c.index.withIdentity(resource, identityHash, "")
}

// applyBound brings what has been derived from bound definitions up to date.
func (c *Catalog) applyBound(cluster logicalcluster.Name, change boundChange) {
	for _, dropped := range change.dropped {
		c.apis.drop(dropped.Definition, dropped.Identity)
	}
	if !change.happened {
		return
	}
	for _, first := range change.first {
		c.watches.cutAll(first)
	}
	if c.config.KindsChanged != nil {
		c.config.KindsChanged(cluster)
	}
	for _, before := range change.before {
		i := slices.IndexFunc(change.after, func(s schema.Served) bool { return resourceOf(s) == resourceOf(before) })
		if i >= 0 && change.after[i].Definition == before.Definition {
			continue
		}
		c.watches.cut(watchKey{cluster: cluster, resource: before.Definition.GroupResource()})
		if i < 0 {
			c.stores.late.drop(cluster, resourceOf(before))
			c.closeUnused(resourceOf(before))
		}
	}
}

// boundEntry is what a binding gives to a cluster.
type boundEntry struct {
	binding string
	// version is that of the binding.
	version uint64
	// served is interned under key.
	served []schema.Served
	key    listKey
}

// boundChange is what bind or unbind have changed.
type boundChange struct {
	happened      bool
	before, after []schema.Served
	// dropped is what no cluster uses any more, first what none has used before.
	dropped, first []schema.Served
}

// boundBy returns what a binding gives to a cluster.
func (x *index) boundBy(cluster logicalcluster.Name, binding string) []schema.Served {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if entry := x.clusters[cluster]; entry != nil {
		if i, found := entry.findBinding(binding); found {
			return entry.bindings[i].served
		}
	}
	return nil
}

// bind makes served what a binding gives to cluster.
func (x *index) bind(cluster logicalcluster.Name, binding string, version uint64, served []schema.Served) boundChange {
	base := x.source.Definitions(cluster)
	served = merge(served)
	x.mu.Lock()
	defer x.mu.Unlock()
	entry := x.clusters[cluster]
	if entry == nil {
		entry = &clusterEntry{}
		x.clusters[cluster] = entry
	}
	i, found := entry.findBinding(binding)
	switch {
	case !found:
		entry.bindings = slices.Insert(entry.bindings, i, boundEntry{binding: strings.Clone(binding)})
	case version < entry.bindings[i].version:
		return boundChange{}
	}
	bound := &entry.bindings[i]
	key := keyOf(served)
	if found && bound.key == key {
		bound.version = version
		return boundChange{}
	}
	change := boundChange{happened: true, before: bound.served}
	change.first = x.unused(served)
	interned := x.internBound(key, served)
	if found {
		change.dropped = x.releaseBound(bound.key)
	}
	bound.version, bound.served, bound.key = version, interned, key
	change.after = interned
	x.merge(entry, base)
	return change
}

// unbind forgets a binding of cluster.
func (x *index) unbind(cluster logicalcluster.Name, binding string) boundChange {
	base := x.source.Definitions(cluster)
	x.mu.Lock()
	defer x.mu.Unlock()
	entry := x.clusters[cluster]
	if entry == nil {
		return boundChange{}
	}
	i, found := entry.findBinding(binding)
	if !found {
		return boundChange{}
	}
	bound := entry.bindings[i]
	change := boundChange{happened: true, before: bound.served, dropped: x.releaseBound(bound.key)}
	entry.bindings = slices.Delete(entry.bindings, i, i+1)
	x.settle(cluster, entry, base)
	return change
}

// internBound returns the interned list with the content of served, counted once more.
// The caller holds mu.
func (x *index) internBound(key listKey, served []schema.Served) []schema.Served {
	interned := x.bound[key]
	if interned == nil {
		for i := range served {
			served[i].Definition = x.use(served[i].Definition, served[i].Identity)
		}
		interned = &counted[[]schema.Served]{value: served}
		x.bound[key] = interned
	}
	interned.uses++
	return interned.value
}

// releaseBound counts a list once less and returns what is not used any more if that was
// its last use. The caller holds mu.
func (x *index) releaseBound(key listKey) []schema.Served {
	interned := x.bound[key]
	if interned.uses--; interned.uses > 0 {
		return nil
	}
	delete(x.bound, key)
	var dropped []schema.Served
	for _, served := range interned.value {
		if x.drop(served.Definition, served.Identity) != nil {
			dropped = append(dropped, served)
		}
	}
	return dropped
}

// eachBinding calls visit with the cluster and name of each binding known.
func (x *index) eachBinding(visit func(cluster logicalcluster.Name, binding string)) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	for cluster, entry := range x.clusters {
		for i := range entry.bindings {
			visit(cluster, entry.bindings[i].binding)
		}
	}
}

// unused returns those of served whose definitions no cluster has. The caller holds mu.
func (x *index) unused(served []schema.Served) []schema.Served {
	var unused []schema.Served
	for _, s := range served {
		if x.definitions[apiKey{hash: s.Definition.Hash, identity: s.Identity}] == nil {
			unused = append(unused, s)
		}
	}
	return unused
}

// withIdentity returns what any binding gives of resource under an identity, one that
// serves version unless that is empty. Where bindings differ it is always the same one.
func (x *index) withIdentity(resource apischema.GroupResource, identityHash, version string) (found schema.Served, ok bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	for _, interned := range x.bound {
		served, has := find(interned.value, resource)
		if !has || served.Export.IdentityHash != identityHash || version != "" && !served.Definition.Serves(version) {
			continue
		}
		if !ok || served.Definition.Hash > found.Definition.Hash {
			found, ok = served, true
		}
	}
	return found, ok
}

func (e *clusterEntry) findBinding(name string) (int, bool) {
	return slices.BinarySearchFunc(e.bindings, name, func(b boundEntry, name string) int {
		return strings.Compare(b.binding, name)
	})
}

// isOwn says whether the objects of a resource are the system's own, whose stores stay
// open.
func isOwn(resource storage.Resource) bool { return resource.Identity == "" }
