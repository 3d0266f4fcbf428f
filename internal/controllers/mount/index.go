package mount

import (
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/storage"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// object is what a workspace mounts. Its kind is left out: whoever changes another object of
// the name makes the controller look once more than it has to.
type object struct{ namespace, name string }

// Index knows which objects are mounted, by cluster and workspace. It is told of all
// objects, and passes on what matters.
type Index struct {
	enqueue func(controller.Key)

	mu     sync.RWMutex
	mounts map[logicalcluster.Name]map[string]object
	// settled says that the kinds of all clusters are known.
	settled bool
}

var _ controller.Listener = (*Index)(nil)

func newIndex(enqueue func(controller.Key)) *Index {
	return &Index{enqueue: enqueue, mounts: map[logicalcluster.Name]map[string]object{}}
}

// set notes what a workspace mounts.
func (x *Index) set(key controller.Key, ref tenancyv1alpha1.ObjectReference) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.mounts[key.Cluster] == nil {
		x.mounts[key.Cluster] = map[string]object{}
	}
	x.mounts[key.Cluster][key.Name] = object{ref.Namespace, ref.Name}
}

// forget notes that a workspace is gone.
func (x *Index) forget(key controller.Key) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.mounts[key.Cluster], key.Name)
	if len(x.mounts[key.Cluster]) == 0 {
		delete(x.mounts, key.Cluster)
	}
}

// Settle says that the kinds of all clusters are known. While the server starts they are not,
// and what is mounted would be taken for missing.
func (x *Index) Settle() {
	x.mu.Lock()
	x.settled = true
	x.mu.Unlock()
	x.Synced(storage.Resource{})
}

func (x *Index) isSettled() bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.settled
}

// KindsChanged says that cluster has got other kinds.
func (x *Index) KindsChanged(cluster logicalcluster.Name) {
	x.each(cluster, func(object) bool { return true })
}

// Began implements controller.Listener.
func (x *Index) Began(storage.Resource) {}

// Changed implements controller.Listener.
func (x *Index) Changed(_ storage.Resource, obj runtime.Object) { x.changed(obj) }

// Gone implements controller.Listener.
func (x *Index) Gone(_ storage.Resource, obj runtime.Object) { x.changed(obj) }

// Synced implements controller.Listener. An object may have gone unheard of in a gap, so
// everything is looked at again.
func (x *Index) Synced(storage.Resource) {
	for _, key := range x.known() {
		x.enqueue(key)
	}
}

// Closed implements controller.Listener. The objects of a closed store are gone.
func (x *Index) Closed(storage.Resource) {}

func (x *Index) changed(obj runtime.Object) {
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return
	}
	changed := object{accessor.GetNamespace(), accessor.GetName()}
	x.each(logicalcluster.FromAnnotations(accessor.GetAnnotations()), func(mounted object) bool { return mounted == changed })
}

// each makes the controller look at the workspaces of a cluster that mount what concerns.
func (x *Index) each(cluster logicalcluster.Name, concerns func(object) bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	for workspace, mounted := range x.mounts[cluster] {
		if concerns(mounted) {
			x.enqueue(controller.Key{Cluster: cluster, Name: workspace})
		}
	}
}

// known returns the keys of all mounted workspaces.
func (x *Index) known() []controller.Key {
	x.mu.RLock()
	defer x.mu.RUnlock()
	var keys []controller.Key
	for cluster, mounts := range x.mounts {
		for workspace := range mounts {
			keys = append(keys, controller.Key{Cluster: cluster, Name: workspace})
		}
	}
	return keys
}
