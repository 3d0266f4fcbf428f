package informers

import (
	"fmt"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
)

// indexer reads the objects of one kind in one cluster from the Index. Their key is
// their name: none is in a namespace. It can be read only, and has no indexes: the
// embedded interface is nil.
type indexer[V any, O versioned[V]] struct {
	cache.Indexer
	place place
	kind  kind[V, O]
}

// List returns all objects.
func (i indexer[V, O]) List() []any {
	stored := i.place.sources.Index.List(i.place.cluster, i.kind.resource)
	all := make([]any, 0, len(stored))
	for _, obj := range stored {
		v, err := i.kind.convert(obj)
		if err != nil {
			// It was valid when it was stored.
			utilruntime.HandleError(fmt.Errorf("listing for admission: %w", err))
			continue
		}
		all = append(all, v)
	}
	return all
}

// ListKeys returns the names of all objects.
func (i indexer[V, O]) ListKeys() []string {
	var keys []string
	for _, obj := range i.List() {
		keys = append(keys, obj.(O).GetName())
	}
	return keys
}

// Get returns the object with the name of another.
func (i indexer[V, O]) Get(obj any) (item any, exists bool, err error) {
	key, err := cache.MetaNamespaceKeyFunc(obj)
	if err != nil {
		return nil, false, err
	}
	return i.GetByKey(key)
}

// GetByKey returns the object with a name.
func (i indexer[V, O]) GetByKey(key string) (item any, exists bool, err error) {
	stored, ok := i.place.sources.Index.Get(i.place.cluster, i.kind.resource, key)
	if !ok {
		return nil, false, nil
	}
	v, err := i.kind.convert(stored)
	return v, err == nil, err
}

// GetIndexers returns none.
func (i indexer[V, O]) GetIndexers() cache.Indexers { return nil }
