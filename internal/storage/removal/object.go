package removal

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apistorage "k8s.io/apiserver/pkg/storage"
	"k8s.io/utils/ptr"

	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// object is a stored object that is to be changed: the one with a UID, not another of
// its name.
type object struct {
	ctx   context.Context
	store apistorage.Interface
	key   string
	// out is overwritten by what is stored.
	out  runtime.Object
	same *apistorage.Preconditions
}

func (r Remover) open(ctx context.Context, cluster logicalcluster.Name, resource storage.Resource, obj runtime.Object) (object, error) {
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return object{}, err
	}
	out, err := r.Layer.NewObject(resource)
	if err != nil {
		return object{}, err
	}
	store, ok := r.Layer.Store(resource)
	if !ok {
		// It may have been closed since obj was read.
		return object{}, fmt.Errorf("the store of %s is not open", resource.Prefix())
	}
	return object{
		ctx:   logicalcluster.NewContext(ctx, cluster),
		store: store,
		key:   resource.Key(accessor.GetNamespace(), accessor.GetName()),
		out:   out,
		same:  &apistorage.Preconditions{UID: ptr.To(accessor.GetUID())},
	}, nil
}

// Update changes obj, which was read from the store of resource in cluster, as change
// does with what is stored.
func (r Remover) Update(ctx context.Context, cluster logicalcluster.Name, resource storage.Resource, obj runtime.Object,
	change func(current metav1.Object) error,
) error {
	o, err := r.open(ctx, cluster, resource, obj)
	if err != nil {
		return err
	}
	return o.update(func(_ runtime.Object, accessor metav1.Object) error { return change(accessor) })
}

// update stores what change makes of the object.
func (o object) update(change func(runtime.Object, metav1.Object) error) error {
	return o.store.GuaranteedUpdate(o.ctx, o.key, o.out, false, o.same,
		func(current runtime.Object, _ apistorage.ResponseMeta) (runtime.Object, *uint64, error) {
			accessor, err := meta.Accessor(current)
			if err != nil {
				return nil, nil, err
			}
			return current, nil, change(current, accessor)
		}, nil)
}

// remove removes the object if check lets it.
func (o object) remove(check func(runtime.Object, metav1.Object) error) error {
	return o.store.Delete(o.ctx, o.key, o.out, o.same, func(_ context.Context, current runtime.Object) error {
		accessor, err := meta.Accessor(current)
		if err != nil {
			return err
		}
		return check(current, accessor)
	}, nil, apistorage.DeleteOptions{})
}
