package apiexport

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/apis/core"

	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/storage/cached"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// reference says that an export goes by a secret.
type reference struct {
	export            string
	namespace, secret string
}

// references are which secrets exports go by. As a listener they turn what happens to
// these into keys of exports.
type references struct {
	enqueue func(controller.Key)

	mu sync.Mutex
	in map[logicalcluster.Name][]reference
}

// set remembers the secret of an export.
func (r *references) set(export controller.Key, namespace, secret string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.in == nil {
		r.in = map[logicalcluster.Name][]reference{}
	}
	wanted := reference{export: export.Name, namespace: namespace, secret: secret}
	all := r.in[export.Cluster]
	if i := slices.IndexFunc(all, isOf(export.Name)); i >= 0 {
		all[i] = wanted
		return
	}
	r.in[export.Cluster] = append(all, wanted)
}

// remove forgets an export.
func (r *references) remove(export controller.Key) {
	r.mu.Lock()
	defer r.mu.Unlock()
	left := slices.DeleteFunc(r.in[export.Cluster], isOf(export.Name))
	if len(left) == 0 {
		delete(r.in, export.Cluster)
		return
	}
	r.in[export.Cluster] = left
}

func isOf(export string) func(reference) bool {
	return func(r reference) bool { return r.export == export }
}

// Began implements controller.Listener.
func (r *references) Began(storage.Resource) {}

// Changed implements controller.Listener.
func (r *references) Changed(resource storage.Resource, obj runtime.Object) {
	if secret, ok := obj.(*core.Secret); ok && resource == cached.Secrets {
		r.heardOf(secret)
	}
}

// Gone implements controller.Listener.
func (r *references) Gone(resource storage.Resource, obj runtime.Object) {
	switch gone := obj.(type) {
	case *core.Secret:
		if resource == cached.Secrets {
			r.heardOf(gone)
		}
	case *core.Namespace:
		if gone.Name == identityNamespace {
			// Exports may wait until it can be made anew.
			r.enqueueThose(logicalcluster.FromAnnotations(gone.Annotations), func(reference) bool { return true })
		}
	}
}

// heardOf enqueues the exports that go by a secret.
func (r *references) heardOf(secret *core.Secret) {
	r.enqueueThose(logicalcluster.FromAnnotations(secret.Annotations), func(ref reference) bool {
		return ref.secret == secret.Name && ref.namespace == secret.Namespace
	})
}

func (r *references) enqueueThose(cluster logicalcluster.Name, wanted func(reference) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, ref := range r.in[cluster] {
		if wanted(ref) {
			r.enqueue(controller.Key{Cluster: cluster, Name: ref.export})
		}
	}
}

// Synced implements controller.Listener.
func (r *references) Synced(resource storage.Resource) {
	if resource != cached.Secrets && resource != cached.Namespaces {
		return
	}
	// In a gap, something may have gone unheard.
	for _, key := range r.keys() {
		r.enqueue(key)
	}
}

// Closed implements controller.Listener.
func (r *references) Closed(storage.Resource) {}

// keys returns the keys of all exports.
func (r *references) keys() []controller.Key {
	r.mu.Lock()
	defer r.mu.Unlock()
	var keys []controller.Key
	for cluster, all := range r.in {
		for _, ref := range all {
			keys = append(keys, controller.Key{Cluster: cluster, Name: ref.export})
		}
	}
	return keys
}
