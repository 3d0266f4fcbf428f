package objectlimit

import (
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/storage/cached"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
)

// Watch hears of LogicalClusters and calls itself when one has a limit of its own, so
// that objects are counted where somebody needs it and nowhere else. It is a listener of
// controller.Feed.
type Watch func()

// Changed looks whether a LogicalCluster has a limit.
func (w Watch) Changed(resource storage.Resource, obj runtime.Object) {
	if resource != cached.LogicalClusters {
		return
	}
	lc, ok := obj.(*corev1alpha1.LogicalCluster)
	if !ok {
		return
	}
	if limit, ok := annotated(lc); ok && limit > 0 {
		w()
	}
}

// Began does nothing.
func (Watch) Began(storage.Resource) {}

// Gone does nothing: who counts goes on counting.
func (Watch) Gone(storage.Resource, runtime.Object) {}

// Synced does nothing.
func (Watch) Synced(storage.Resource) {}

// Closed does nothing.
func (Watch) Closed(storage.Resource) {}
