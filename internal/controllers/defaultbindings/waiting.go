package defaultbindings

import (
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/tenancy/defaultbindings"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/tenancy"
)

// waiting are the clusters that something is to be done about.
type waiting struct {
	mu       sync.RWMutex
	clusters map[logicalcluster.Name]interest
}

// interest is what a workspace waits for.
type interest struct {
	// anything wakes the workspace: it is not known yet what it waits for, or nobody can
	// tell as its type is not as it should be.
	anything bool
	// exports are the names of exports, wherever they are.
	exports sets.Set[string]
	// types are that of the workspace and those that it extends.
	types sets.Set[named]
}

// named is an object by its name and place.
type named struct {
	cluster logicalcluster.Name
	name    string
}

// interestIn returns what a workspace of a type, nil if that is not known, waits for that
// wants bindings.
func interestIn(set *tenancy.Set, wanted []defaultbindings.Wanted) interest {
	if set == nil {
		return interest{anything: true}
	}
	in := interest{exports: sets.New[string](), types: sets.New[named]()}
	for _, w := range wanted {
		in.exports.Insert(w.Export)
	}
	for _, alias := range set.Aliases {
		in.types.Insert(named{alias.Cluster, alias.Object.Name})
	}
	return in
}

func (w *waiting) add(cluster logicalcluster.Name, in interest) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.clusters == nil {
		w.clusters = map[logicalcluster.Name]interest{}
	}
	w.clusters[cluster] = in
}

func (w *waiting) remove(cluster logicalcluster.Name) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.clusters, cluster)
}

// cluster returns the key of the cluster that an object is in, if it waits.
func (w *waiting) cluster(obj runtime.Object) []controller.Key {
	keys := controller.OwnKey(obj)
	if len(keys) != 1 {
		return nil
	}
	w.mu.RLock()
	defer w.mu.RUnlock()
	if _, ok := w.clusters[keys[0].Cluster]; !ok {
		return nil
	}
	return []controller.Key{keyOf(keys[0].Cluster)}
}

// export returns the keys of the clusters that may wait for an export.
func (w *waiting) export(obj runtime.Object) []controller.Key {
	return w.interestedIn(obj, func(in interest, n named) bool { return in.exports.Has(n.name) })
}

// workspaceType returns the keys of the clusters that wait for what a type says.
func (w *waiting) workspaceType(obj runtime.Object) []controller.Key {
	return w.interestedIn(obj, func(in interest, n named) bool { return in.types.Has(n) })
}

func (w *waiting) interestedIn(obj runtime.Object, interested func(interest, named) bool) []controller.Key {
	own := controller.OwnKey(obj)
	if len(own) != 1 {
		return nil
	}
	w.mu.RLock()
	defer w.mu.RUnlock()
	var keys []controller.Key
	for cluster, in := range w.clusters {
		if in.anything || interested(in, named{own[0].Cluster, own[0].Name}) {
			keys = append(keys, keyOf(cluster))
		}
	}
	return keys
}

func keyOf(cluster logicalcluster.Name) controller.Key {
	return controller.Key{Cluster: cluster, Name: corev1alpha1.LogicalClusterName}
}
