package logicalcluster

import (
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/storage/cached"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// ending knows the clusters that are being deleted and wait for something in them, and has
// them looked at again when something in them changes. It is a listener of the feed, so
// that waiting costs nothing, and does not last longer than it has to.
type ending struct {
	enqueue func(controller.Key, time.Duration)
	// some says that there are any, without a lock: usually there are not.
	some atomic.Bool
	mu   sync.Mutex
	// clusters has, for each, how long after a change it is looked at.
	clusters map[logicalcluster.Name]time.Duration
}

var _ controller.Listener = &ending{}

// add says that cluster waits, and how soon it is looked at after a change. If that is
// new, changes before have gone unheard.
func (e *ending) add(cluster logicalcluster.Name, pace time.Duration) (isNew bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.clusters == nil {
		e.clusters = map[logicalcluster.Name]time.Duration{}
	}
	_, known := e.clusters[cluster]
	e.clusters[cluster] = pace
	e.some.Store(true)
	return !known
}

// has says whether cluster waits.
func (e *ending) has(cluster logicalcluster.Name) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, ok := e.clusters[cluster]
	return ok
}

// over says that cluster waits no longer.
func (e *ending) over(cluster logicalcluster.Name) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.clusters, cluster)
	e.some.Store(len(e.clusters) > 0)
}

func (e *ending) hear(resource storage.Resource, obj runtime.Object) {
	if !e.some.Load() || resource == cached.LogicalClusters {
		return
	}
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return
	}
	cluster := logicalcluster.FromAnnotations(accessor.GetAnnotations())
	e.mu.Lock()
	pace, ok := e.clusters[cluster]
	e.mu.Unlock()
	if ok {
		e.enqueue(controller.Key{Cluster: cluster, Name: corev1alpha1.LogicalClusterName}, pace)
	}
}

// Changed implements controller.Listener.
func (e *ending) Changed(resource storage.Resource, obj runtime.Object) { e.hear(resource, obj) }

// Gone implements controller.Listener.
func (e *ending) Gone(resource storage.Resource, obj runtime.Object) { e.hear(resource, obj) }

// Began implements controller.Listener. What has gone unheard shows in a look that comes
// anyway.
func (e *ending) Began(storage.Resource) {}

// Synced implements controller.Listener.
func (e *ending) Synced(storage.Resource) {}

// Closed implements controller.Listener.
func (e *ending) Closed(storage.Resource) {}
