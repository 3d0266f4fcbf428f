package apibinding

import (
	"slices"
	"sync"

	"github.com/forkless/kcp/internal/controller"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// name is that of a binding.
type name struct {
	cluster logicalcluster.Name
	binding string
}

func (n name) key() controller.Key { return controller.Key{Cluster: n.cluster, Name: n.binding} }

// reference names an export as a binding does: by path or by cluster.
type reference struct{ where, export string }

// noted is what the index knows of a binding.
type noted struct {
	refers reference
	// definitions are the UIDs of the schemas that it has bound.
	definitions []string
}

// index knows which bindings refer to an export, how many have bound a schema, and which
// wait for something in their workspace.
type index struct {
	mu       sync.RWMutex
	bindings map[name]noted
	refer    map[reference]map[name]struct{}
	uses     map[string]int
	waiting  map[logicalcluster.Name]map[string]struct{}
}

func newIndex() *index {
	return &index{
		bindings: map[name]noted{},
		refer:    map[reference]map[name]struct{}{},
		uses:     map[string]int{},
		waiting:  map[logicalcluster.Name]map[string]struct{}{},
	}
}

// set notes what a binding refers to. It returns the UIDs of schemas that nobody has bound
// any more.
func (x *index) set(key controller.Key, b *apisv1alpha2.APIBinding) (unused []string) {
	n := name{key.Cluster, key.Name}
	now := noted{refers: referenceOf(key.Cluster, b)}
	for _, bound := range b.Status.BoundResources {
		now.definitions = append(now.definitions, bound.Schema.UID)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	before, known := x.bindings[n]
	if known && before.refers == now.refers && slices.Equal(before.definitions, now.definitions) {
		return nil
	}
	x.bindings[n] = now
	if known && before.refers != now.refers {
		x.dropReference(n, before.refers)
	}
	if x.refer[now.refers] == nil {
		x.refer[now.refers] = map[name]struct{}{}
	}
	x.refer[now.refers][n] = struct{}{}
	for _, uid := range now.definitions {
		x.uses[uid]++
	}
	return x.dropUses(before.definitions)
}

// remove forgets a binding. It returns the UIDs of schemas that nobody has bound any more.
func (x *index) remove(key controller.Key) (unused []string) {
	n := name{key.Cluster, key.Name}
	x.mu.Lock()
	defer x.mu.Unlock()
	before, known := x.bindings[n]
	if !known {
		return nil
	}
	delete(x.bindings, n)
	x.dropReference(n, before.refers)
	x.setWaiting(n, false)
	return x.dropUses(before.definitions)
}

// wait notes whether a binding waits for something in its workspace.
func (x *index) wait(key controller.Key, waits bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.setWaiting(name{key.Cluster, key.Name}, waits)
}

// waitingIn returns the keys of the bindings of a cluster that wait for something there.
func (x *index) waitingIn(cluster logicalcluster.Name) []controller.Key {
	x.mu.RLock()
	defer x.mu.RUnlock()
	var keys []controller.Key
	for binding := range x.waiting[cluster] {
		keys = append(keys, name{cluster, binding}.key())
	}
	return keys
}

// referringTo returns the keys of the bindings that refer to an export by this path or
// cluster.
func (x *index) referringTo(where, export string) []controller.Key {
	x.mu.RLock()
	defer x.mu.RUnlock()
	keys := make([]controller.Key, 0, len(x.refer[reference{where, export}]))
	for n := range x.refer[reference{where, export}] {
		keys = append(keys, n.key())
	}
	return keys
}

// used says whether any binding has bound the schema with a UID.
func (x *index) used(uid string) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.uses[uid] > 0
}

// using returns the keys of the bindings that have bound the schema with a UID. It looks at
// all of them: it is asked when something is amiss.
func (x *index) using(uid string) []controller.Key {
	x.mu.RLock()
	defer x.mu.RUnlock()
	var keys []controller.Key
	for n, noted := range x.bindings {
		if slices.Contains(noted.definitions, uid) {
			keys = append(keys, n.key())
		}
	}
	return keys
}

func (x *index) dropReference(n name, refers reference) {
	delete(x.refer[refers], n)
	if len(x.refer[refers]) == 0 {
		delete(x.refer, refers)
	}
}

func (x *index) dropUses(uids []string) (unused []string) {
	for _, uid := range uids {
		if x.uses[uid]--; x.uses[uid] == 0 {
			delete(x.uses, uid)
			unused = append(unused, uid)
		}
	}
	return unused
}

func (x *index) setWaiting(n name, waits bool) {
	switch {
	case waits && x.waiting[n.cluster] == nil:
		x.waiting[n.cluster] = map[string]struct{}{n.binding: {}}
	case waits:
		x.waiting[n.cluster][n.binding] = struct{}{}
	default:
		delete(x.waiting[n.cluster], n.binding)
		if len(x.waiting[n.cluster]) == 0 {
			delete(x.waiting, n.cluster)
		}
	}
}

// referenceOf returns what a binding of a cluster refers to.
func referenceOf(cluster logicalcluster.Name, b *apisv1alpha2.APIBinding) reference {
	export := b.Spec.Reference.Export
	switch {
	case export == nil:
		return reference{}
	case export.Path == "":
		return reference{cluster.String(), export.Name}
	default:
		return reference{export.Path, export.Name}
	}
}
