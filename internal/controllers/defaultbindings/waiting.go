package defaultbindings

import (
	"sync"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/forkless/kcp/internal/controller"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// waiting are the clusters that something is to be done about.
type waiting struct {
	mu       sync.RWMutex
	clusters map[logicalcluster.Name]struct{}
}

func (w *waiting) add(cluster logicalcluster.Name) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.clusters == nil {
		w.clusters = map[logicalcluster.Name]struct{}{}
	}
	w.clusters[cluster] = struct{}{}
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

// all returns the keys of all clusters that wait.
func (w *waiting) all(runtime.Object) []controller.Key {
	w.mu.RLock()
	defer w.mu.RUnlock()
	keys := make([]controller.Key, 0, len(w.clusters))
	for cluster := range w.clusters {
		keys = append(keys, keyOf(cluster))
	}
	return keys
}

func keyOf(cluster logicalcluster.Name) controller.Key {
	return controller.Key{Cluster: cluster, Name: corev1alpha1.LogicalClusterName}
}
