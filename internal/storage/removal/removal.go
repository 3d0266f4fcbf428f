// Package removal deletes objects on the server's own behalf, whatever their resource,
// as a delete request with background propagation would: what has finalizers is
// marked as deleted and waits for them, everything else goes at once.
package removal

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apistorage "k8s.io/apiserver/pkg/storage"
	"k8s.io/utils/ptr"

	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Remover deletes objects in the open stores of a layer.
type Remover struct {
	Layer *storage.Layer
	// Now returns the time to write into deletion timestamps.
	Now func() time.Time
}

// Remove deletes obj, which was read from the store of resource in cluster. It does
// nothing if obj is being deleted already, has changed since, or is gone: whoever
// looks again sees what is left.
func (r Remover) Remove(ctx context.Context, cluster logicalcluster.Name, resource storage.Resource, obj runtime.Object) error {
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return err
	}
	if accessor.GetDeletionTimestamp() != nil {
		return nil
	}
	ctx = logicalcluster.NewContext(ctx, cluster)
	if len(accessor.GetFinalizers()) > 0 {
		err = r.mark(ctx, resource, accessor)
	} else {
		err = r.remove(ctx, resource, accessor)
	}
	if apistorage.IsNotFound(err) || apistorage.IsConflict(err) || apistorage.IsInvalidObj(err) {
		return nil
	}
	return err
}

// mark sets the deletion timestamp.
func (r Remover) mark(ctx context.Context, resource storage.Resource, accessor metav1.Object) error {
	store, out, err := r.open(resource)
	if err != nil {
		return err
	}
	now := metav1.NewTime(r.Now())
	return store.GuaranteedUpdate(ctx, key(resource, accessor), out, false, preconditions(accessor),
		func(input runtime.Object, _ apistorage.ResponseMeta) (runtime.Object, *uint64, error) {
			stored, err := meta.Accessor(input)
			if err != nil {
				return nil, nil, err
			}
			if stored.GetDeletionTimestamp() == nil {
				stored.SetDeletionTimestamp(&now)
				stored.SetDeletionGracePeriodSeconds(ptr.To[int64](0))
				// As with a delete request: deleting is a change of what is wanted.
				if stored.GetGeneration() > 0 {
					stored.SetGeneration(stored.GetGeneration() + 1)
				}
			}
			return input, nil, nil
		}, nil)
}

func (r Remover) remove(ctx context.Context, resource storage.Resource, accessor metav1.Object) error {
	store, out, err := r.open(resource)
	if err != nil {
		return err
	}
	exactly := preconditions(accessor)
	exactly.ResourceVersion = ptr.To(accessor.GetResourceVersion())
	return store.Delete(ctx, key(resource, accessor), out, exactly, apistorage.ValidateAllObjectFunc, nil, apistorage.DeleteOptions{})
}

func (r Remover) open(resource storage.Resource) (apistorage.Interface, runtime.Object, error) {
	out, err := r.Layer.NewObject(resource)
	if err != nil {
		return nil, nil, err
	}
	store, _ := r.Layer.Store(resource)
	return store, out, nil
}

func preconditions(accessor metav1.Object) *apistorage.Preconditions {
	return &apistorage.Preconditions{UID: ptr.To(accessor.GetUID())}
}

func key(resource storage.Resource, accessor metav1.Object) string {
	prefix := resource.Prefix() + "/"
	if namespace := accessor.GetNamespace(); namespace != "" {
		prefix += namespace + "/"
	}
	return prefix + accessor.GetName()
}
