package catalog

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	apistorage "k8s.io/apiserver/pkg/storage"

	"github.com/forkless/kcp/internal/catalog/view"
	"github.com/forkless/kcp/internal/schema"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Opener opens stores. A resource is open at most once.
type Opener interface {
	Open(resource storage.Resource, kind storage.Kind) (apistorage.Interface, error)
	CloseResource(resource storage.Resource)
	// LastWriteOfAll returns the version of the last write to any resource that is open.
	LastWriteOfAll() uint64
}

// openTimeout is how long a request waits for the watch cache of a store that has
// just been opened. One that takes longer answers that it is initializing.
const openTimeout = 5 * time.Second

// stores are the shared stores that have been opened, one for each resource.
type stores struct {
	opener Opener
	// typedKind returns the kind of resources that are stored as Go types.
	typedKind func(apischema.GroupResource) (storage.Kind, bool)
	// definitionOf returns what a resource is in a cluster.
	definitionOf func(logicalcluster.Name, storage.Resource) (*schema.Definition, bool)

	late lateFields

	mu   sync.Mutex
	open map[storage.Resource]*openStore
}

// openStore is a store that is, or is about to be, open. Its lock keeps a resource
// from being opened twice without making others wait.
type openStore struct {
	mu sync.Mutex
	// closed says that this one is over and another has to be opened.
	closed bool
	shared *view.Shared
}

// get returns the store of resource, opening it if need be. It does not wait for its
// watch cache.
func (s *stores) get(resource storage.Resource) (*view.Shared, error) {
	for {
		shared, closed, err := s.getFrom(s.entry(resource), resource)
		if !closed {
			return shared, err
		}
	}
}

// getFrom is get for one entry. closed says that it has been closed in the meantime.
func (s *stores) getFrom(store *openStore, resource storage.Resource) (shared *view.Shared, closed bool, err error) {
	store.mu.Lock()
	defer store.mu.Unlock()
	if store.closed {
		return nil, true, nil
	}
	if store.shared != nil {
		return store.shared, false, nil
	}
	kind := s.kind(resource)
	opened, err := s.opener.Open(resource, kind)
	if err != nil {
		return nil, false, err
	}
	store.shared = &view.Shared{
		Interface: opened, New: kind.New, NewList: kind.NewList, Attrs: kind.Attrs,
		Late: func(ctx context.Context, field string) bool { return s.late.has(ctx, resource, field) },
	}
	return store.shared, false, nil
}

// isOpen says whether shared is what get returns for resource.
func (s *stores) isOpen(resource storage.Resource, shared *view.Shared) bool {
	s.mu.Lock()
	store := s.open[resource]
	s.mu.Unlock()
	if store == nil {
		return false
	}
	store.mu.Lock()
	defer store.mu.Unlock()
	return !store.closed && store.shared == shared
}

// ifOpen returns the store of resource if it is open.
func (s *stores) ifOpen(resource storage.Resource) (*view.Shared, bool) {
	s.mu.Lock()
	store := s.open[resource]
	s.mu.Unlock()
	if store == nil {
		return nil, false
	}
	store.mu.Lock()
	defer store.mu.Unlock()
	return store.shared, !store.closed && store.shared != nil
}

// close closes the store of resource unless it is used: a store is a watch of etcd, a
// watch cache and a dozen goroutines, and workspaces may define what they like.
func (s *stores) close(resource storage.Resource, used func() bool) {
	// Held to the end, so that the resource is not opened anew before it is closed.
	s.mu.Lock()
	defer s.mu.Unlock()
	store := s.open[resource]
	if store == nil || used() {
		return
	}
	store.mu.Lock()
	defer store.mu.Unlock()
	store.closed = true
	delete(s.open, resource)
	if store.shared != nil {
		s.opener.CloseResource(resource)
	}
	s.late.forget(resource)
}

func (s *stores) entry(resource storage.Resource) *openStore {
	s.mu.Lock()
	defer s.mu.Unlock()
	store := s.open[resource]
	if store == nil {
		store = &openStore{}
		s.open[resource] = store
	}
	return store
}

// waitReady waits for the watch cache of store, so that the first request for a
// resource is answered and not told to come back. That it takes too long is said to
// those who read from it.
func waitReady(store apistorage.Interface) {
	_ = wait.PollUntilContextTimeout(context.Background(), time.Millisecond, openTimeout, true,
		func(context.Context) (bool, error) { return store.ReadinessCheck() == nil, nil })
}

func (s *stores) kind(resource storage.Resource) storage.Kind {
	if resource.Identity == "" && s.typedKind != nil {
		if kind, ok := s.typedKind(resource.GroupResource); ok {
			if kind.Attrs == nil {
				kind.Attrs = apistorage.DefaultNamespaceScopedAttr
			}
			return kind
		}
	}
	return storage.Kind{
		New:     func() runtime.Object { return &unstructured.Unstructured{} },
		NewList: func() runtime.Object { return &unstructured.UnstructuredList{} },
		// Objects are stored as JSON, whatever their schema.
		Codec: unstructured.UnstructuredJSONScheme,
		Attrs: func(obj runtime.Object) (labels.Set, fields.Set, error) { return s.attrs(resource, obj) },
	}
}

// attrs returns by what obj can be selected. Which fields those are is decided by the
// definition its own cluster has; other clusters may have others of the same name.
func (s *stores) attrs(resource storage.Resource, obj runtime.Object) (labels.Set, fields.Set, error) {
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return nil, nil, err
	}
	selectable := fields.Set{
		"metadata.name":      accessor.GetName(),
		"metadata.namespace": accessor.GetNamespace(),
	}
	u, ok := obj.(*unstructured.Unstructured)
	cluster := logicalcluster.FromAnnotations(accessor.GetAnnotations())
	if !ok || cluster.Empty() {
		return accessor.GetLabels(), selectable, nil
	}
	if definition, ok := s.definitionOf(cluster, resource); ok {
		for _, path := range definition.SelectableFields() {
			selectable[path] = view.FieldValue(u, path)
		}
	}
	return accessor.GetLabels(), selectable, nil
}
