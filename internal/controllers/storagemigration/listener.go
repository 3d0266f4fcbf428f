package storagemigration

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

var _ controller.Listener = (*Migration)(nil)

// Changed makes the controller look at a resource of a workspace that has an object to
// rewrite.
func (m *Migration) Changed(resource storage.Resource, obj runtime.Object) {
	if resource.Identity == "" || resource.Identity == storage.CustomResources {
		return // nothing bound
	}
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return
	}
	cluster := logicalcluster.FromAnnotations(accessor.GetAnnotations())
	if !cluster.Empty() && m.config.Catalog.Stale(cluster, resource, obj) {
		m.look(cluster, resource.GroupResource)
	}
}

// Began does nothing: what follows is heard as it is told.
func (*Migration) Began(storage.Resource) {}

// Gone does nothing: what is gone need not be rewritten.
func (*Migration) Gone(storage.Resource, runtime.Object) {}

// Synced does nothing: nothing is remembered of objects.
func (*Migration) Synced(storage.Resource) {}

// Closed does nothing: nothing is remembered of objects.
func (*Migration) Closed(storage.Resource) {}
