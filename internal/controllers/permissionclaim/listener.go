package permissionclaim

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/internal/claimed"
	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/storage/cached"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// resourceKey returns the key under which all objects of a resource of a cluster are
// looked at. That of a binding has no namespace.
func resourceKey(cluster logicalcluster.Name, resource storage.Resource) controller.Key {
	return controller.Key{Cluster: cluster, Namespace: "/" + resource.Identity, Name: resource.GroupResource.String()}
}

// resourceOf is the inverse of resourceKey. ok is false if key is that of a binding.
func resourceOf(key controller.Key) (resource storage.Resource, ok bool) {
	if key.Namespace == "" {
		return resource, false
	}
	return storage.Resource{GroupResource: schema.ParseGroupResource(key.Name), Identity: key.Namespace[1:]}, true
}

// feed hears of objects that have the wrong labels. There may be many of a resource at a
// time, so they are looked at together.
type feed struct {
	index   *claimed.Index
	enqueue func(controller.Key)
	waiting *waiting
}

// Began implements controller.Listener.
func (f *feed) Began(storage.Resource) {}

// Changed implements controller.Listener.
func (f *feed) Changed(resource storage.Resource, obj runtime.Object) {
	if !f.index.IsRight(resource, obj) {
		if accessor, err := meta.Accessor(obj); err == nil {
			f.enqueue(resourceKey(logicalcluster.FromAnnotations(accessor.GetAnnotations()), resource))
		}
	}
	if export, ok := obj.(*apisv1alpha2.APIExport); ok && resource == cached.APIExports {
		for _, key := range f.waiting.forIdentity(export.Status.IdentityHash) {
			f.enqueue(key)
		}
	}
}

// Gone implements controller.Listener.
func (f *feed) Gone(storage.Resource, runtime.Object) {}

// Synced implements controller.Listener.
func (f *feed) Synced(storage.Resource) {}

// Closed implements controller.Listener.
func (f *feed) Closed(storage.Resource) {}
