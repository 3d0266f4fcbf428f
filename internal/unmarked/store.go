package unmarked

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/client-go/tools/cache"
)

// RESTOptions returns options for registries that read objects without the annotation.
func RESTOptions(options generic.RESTOptionsGetter) generic.RESTOptionsGetter { return getter{options} }

type getter struct{ generic.RESTOptionsGetter }

// GetRESTOptions returns the options of one resource.
func (g getter) GetRESTOptions(resource schema.GroupResource, example runtime.Object) (generic.RESTOptions, error) {
	options, err := g.RESTOptionsGetter.GetRESTOptions(resource, example)
	if err != nil {
		return options, err
	}
	decorate := options.Decorator
	options.Decorator = func(config *storagebackend.ConfigForResource, prefix string, key func(runtime.Object) (string, error),
		newObject, newList func() runtime.Object, attrs storage.AttrFunc, trigger storage.IndexerFuncs, indexers *cache.Indexers,
	) (storage.Interface, factory.DestroyFunc, error) {
		opened, destroy, err := decorate(config, prefix, key, newObject, newList, attrs, trigger, indexers)
		return Store{opened}, destroy, err
	}
	return options, nil
}

// Store is a storage whose readers see objects without the annotation. Those who change
// an object are given what is stored.
type Store struct{ storage.Interface }

// Create implements storage.Interface.
func (s Store) Create(ctx context.Context, key string, obj, out runtime.Object, ttl uint64) error {
	err := s.Interface.Create(ctx, key, obj, out, ttl)
	unmark(out)
	return err
}

// Delete implements storage.Interface.
func (s Store) Delete(ctx context.Context, key string, out runtime.Object, preconditions *storage.Preconditions,
	validate storage.ValidateObjectFunc, cached runtime.Object, options storage.DeleteOptions,
) error {
	err := s.Interface.Delete(ctx, key, out, preconditions, validate, cached, options)
	unmark(out)
	return err
}

// Get implements storage.Interface.
func (s Store) Get(ctx context.Context, key string, options storage.GetOptions, out runtime.Object) error {
	err := s.Interface.Get(ctx, key, options, out)
	unmark(out)
	return err
}

// GetList implements storage.Interface.
func (s Store) GetList(ctx context.Context, key string, options storage.ListOptions, out runtime.Object) error {
	err := s.Interface.GetList(ctx, key, options, out)
	unmarkItems(out)
	return err
}

// GuaranteedUpdate implements storage.Interface.
func (s Store) GuaranteedUpdate(ctx context.Context, key string, out runtime.Object, ignoreNotFound bool,
	preconditions *storage.Preconditions, update storage.UpdateFunc, cached runtime.Object,
) error {
	err := s.Interface.GuaranteedUpdate(ctx, key, out, ignoreNotFound, preconditions, update, cached)
	unmark(out)
	return err
}

// Watch implements storage.Interface.
func (s Store) Watch(ctx context.Context, key string, options storage.ListOptions) (watch.Interface, error) {
	watching, err := s.Interface.Watch(ctx, key, options)
	if err != nil {
		return nil, err
	}
	return watch.Filter(watching, func(event watch.Event) (watch.Event, bool) {
		// What several watches share, controllers read as well, and need the annotation.
		if shared, ok := event.Object.(runtime.CacheableObject); ok {
			event.Object = shared.GetObject()
		}
		unmark(event.Object)
		return event, true
	}), nil
}
