package storage

import (
	"context"
	"fmt"
	"sync/atomic"

	clientv3 "go.etcd.io/etcd/client/v3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/storage"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Object is what a Reader reads: a pointer to T that is an API object.
type Object[T any] interface {
	*T
	runtime.Object
}

// Reader reads the objects of one resource from its watch cache: no copy, no
// decoding, no request to etcd. What it returns shares memory with the cache and
// must not be changed. It lags behind writes by the delivery of a watch event.
type Reader[T any, O Object[T], L runtime.Object] struct {
	layer    *Layer
	resource Resource
	newList  func() L
	items    func(L) []T
	store    atomic.Pointer[store]
}

// NewReader returns a Reader of a resource, which must be open by the time it is
// first read. items returns the items of a list that newList has made.
func NewReader[T any, O Object[T], L runtime.Object](layer *Layer, resource Resource, newList func() L, items func(L) []T) *Reader[T, O, L] {
	return &Reader[T, O, L]{layer: layer, resource: resource, newList: newList, items: items}
}

// Get returns an object; namespace is empty for cluster-scoped resources. If there
// is none, the error is a NotFound Status.
func (r *Reader[T, O, L]) Get(ctx context.Context, cluster logicalcluster.Name, namespace, name string) (O, error) {
	return r.get(ctx, cluster, namespace, name, "0")
}

func (r *Reader[T, O, L]) get(ctx context.Context, cluster logicalcluster.Name, namespace, name, version string) (O, error) {
	store, err := r.open()
	if err != nil {
		return nil, err
	}
	var obj O = new(T)
	err = store.Get(logicalcluster.NewContext(withoutGuard(ctx), cluster), r.resource.Key(namespace, name), storage.GetOptions{ResourceVersion: version}, obj)
	if storage.IsNotFound(err) {
		return nil, apierrors.NewNotFound(r.resource.GroupResource, name)
	}
	if err != nil {
		return nil, err
	}
	return obj, nil
}

// GetCurrent returns an object as it is in etcd, not as the watch cache has it. It
// belongs to the caller.
func (r *Reader[T, O, L]) GetCurrent(ctx context.Context, cluster logicalcluster.Name, namespace, name string) (O, error) {
	return r.get(ctx, cluster, namespace, name, "")
}

// List returns the objects of a cluster, in one namespace unless namespace is empty.
// The wildcard cluster lists all clusters.
func (r *Reader[T, O, L]) List(ctx context.Context, cluster logicalcluster.Name, namespace string) ([]T, error) {
	return r.list(ctx, cluster, namespace, fromCache())
}

// ListCurrent is List with everything in it that was written before the call.
func (r *Reader[T, O, L]) ListCurrent(ctx context.Context, cluster logicalcluster.Name, namespace string) ([]T, error) {
	return r.list(ctx, cluster, namespace, current())
}

func (r *Reader[T, O, L]) list(ctx context.Context, cluster logicalcluster.Name, namespace string, options storage.ListOptions) ([]T, error) {
	store, err := r.open()
	if err != nil {
		return nil, err
	}
	key := r.resource.Prefix()
	if namespace != "" {
		key += "/" + namespace
	}
	list := r.newList()
	if err := store.GetList(logicalcluster.NewContext(ctx, cluster), key, options, list); err != nil {
		return nil, err
	}
	return r.items(list), nil
}

func (r *Reader[T, O, L]) open() (*store, error) {
	if s := r.store.Load(); s != nil {
		return s, nil
	}
	s, ok := r.layer.lookUp(r.resource)
	if !ok {
		return nil, notOpen(r.resource)
	}
	r.store.Store(s)
	return s, nil
}

// fromCache are the options of a list that the watch cache answers as it is.
func fromCache() storage.ListOptions {
	return storage.ListOptions{
		ResourceVersion:      "0",
		ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
		Recursive:            true,
		Predicate:            storage.Everything,
	}
}

// current are the options of a list that sees all earlier writes.
func current() storage.ListOptions {
	return storage.ListOptions{Recursive: true, Predicate: storage.Everything}
}

// Store returns the open store of a resource.
func (l *Layer) Store(resource Resource) (storage.Interface, bool) {
	s, ok := l.lookUp(resource)
	if !ok {
		return nil, false
	}
	return s, true
}

// LastWrite returns the version of the last write of this process to a resource; 0 if its
// store is not open or nothing has been written.
func (l *Layer) LastWrite(resource Resource) uint64 {
	s, ok := l.lookUp(resource)
	if !ok {
		return 0
	}
	return s.lastWrite.Load()
}

// LastWriteOfAll returns the version of the last write of this process to any resource
// whose store is open. All resources have their versions from one counter.
func (l *Layer) LastWriteOfAll() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	last := uint64(0)
	for _, o := range l.stores {
		last = max(last, o.store.lastWrite.Load())
	}
	return last
}

// Holds says whether there are objects of a resource in any cluster. It asks etcd for one
// key, and does not need the store to be open.
func (l *Layer) Holds(ctx context.Context, resource Resource) (bool, error) {
	response, err := l.client.KV.Get(ctx, l.prefix+resource.Prefix()+"/",
		clientv3.WithPrefix(), clientv3.WithKeysOnly(), clientv3.WithLimit(1))
	if err != nil {
		return false, fmt.Errorf("looking for objects of %s: %w", resource.Prefix(), err)
	}
	return len(response.Kvs) > 0, nil
}

// NewObject returns an empty object of a resource that is open.
func (l *Layer) NewObject(resource Resource) (runtime.Object, error) {
	s, ok := l.lookUp(resource)
	if !ok {
		return nil, notOpen(resource)
	}
	return s.newObject(), nil
}

// Each calls visit for every object of a cluster in the open stores, of one namespace
// unless that is empty. It sees what was written before the call. The objects may
// share memory with the watch caches.
func (l *Layer) Each(ctx context.Context, cluster logicalcluster.Name, namespace string, visit func(Resource, runtime.Object) error) error {
	for _, resource := range l.Opened() {
		err := l.EachOf(ctx, resource, cluster, namespace, func(obj runtime.Object) error { return visit(resource, obj) })
		if err != nil {
			return err
		}
	}
	return nil
}

// EachOf is Each for the objects of one resource. There are none if its store is not open.
func (l *Layer) EachOf(ctx context.Context, resource Resource, cluster logicalcluster.Name, namespace string, visit func(runtime.Object) error) error {
	s, ok := l.lookUp(resource)
	if !ok {
		return nil
	}
	key := s.prefix
	if namespace != "" {
		// Below the name of an object that is in no namespace there is nothing.
		key += "/" + namespace
	}
	list := s.newList()
	if err := s.GetList(logicalcluster.NewContext(ctx, cluster), key, current(), list); err != nil {
		return fmt.Errorf("listing %s: %w", resource.GroupResource, err)
	}
	return meta.EachListItem(list, visit)
}
