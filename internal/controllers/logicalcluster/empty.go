package logicalcluster

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apistorage "k8s.io/apiserver/pkg/storage"

	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/storage/cached"
	"github.com/forkless/kcp/internal/tenancy/phase"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// kept are the resources whose objects stay as long as anything is held: what is held
// may need them to be reached and let go.
var kept = []storage.Resource{
	cached.LogicalClusters,
	cached.CustomResourceDefinitions,
	cached.Namespaces,
	cached.Roles, cached.RoleBindings, cached.ClusterRoles, cached.ClusterRoleBindings,
}

// cleanupFinalizer is the one by which a definition waits for its instances. It holds
// nothing here: the instances go with the cluster.
const cleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io"

type object struct {
	resource  storage.Resource
	obj       runtime.Object
	meta      metav1.Object
	finalized bool
}

// empty deletes what can be deleted the ordinary way and returns what is held by
// finalizers. If nothing is held it deletes nothing: the caller does that at one go.
func (r *reconciler) empty(ctx context.Context, cluster logicalcluster.Name) (*phase.Content, error) {
	content := &phase.Content{Remaining: map[schema.GroupResource]int{}, Finalizers: map[string]int{}}
	var objects []object
	err := r.Layer.Each(ctx, cluster, func(resource storage.Resource, obj runtime.Object) error {
		if resource == cached.LogicalClusters {
			return nil
		}
		accessor, err := meta.Accessor(obj)
		if err != nil {
			return err
		}
		finalizers := holding(accessor)
		objects = append(objects, object{resource, obj, accessor, len(finalizers) > 0})
		if len(finalizers) > 0 {
			content.Remaining[resource.GroupResource]++
			for _, finalizer := range finalizers {
				content.Finalizers[finalizer]++
			}
		}
		return nil
	})
	if err != nil || content.Gone() {
		return content, err
	}
	for _, o := range objects {
		switch {
		case o.finalized && o.meta.GetDeletionTimestamp() == nil:
			err = r.markDeleted(ctx, cluster, o)
		case !o.finalized && !slices.Contains(kept, o.resource):
			err = r.deleteNow(ctx, cluster, o)
		}
		if err != nil {
			content.Failure, content.Message = corev1alpha1.ReasonContentDeletionFailed, err.Error()
		}
	}
	return content, nil
}

// holding returns the finalizers that keep an object from going.
func holding(accessor metav1.Object) []string {
	return slices.DeleteFunc(slices.Clone(accessor.GetFinalizers()), func(f string) bool { return f == cleanupFinalizer })
}

// markDeleted sets the deletion timestamp of an object, as a delete request would.
func (r *reconciler) markDeleted(ctx context.Context, cluster logicalcluster.Name, o object) error {
	store, key, out, err := r.locate(o)
	if err != nil {
		return err
	}
	now := r.now()
	err = store.GuaranteedUpdate(logicalcluster.NewContext(ctx, cluster), key, out, false, nil,
		func(input runtime.Object, _ apistorage.ResponseMeta) (runtime.Object, *uint64, error) {
			accessor, err := meta.Accessor(input)
			if err != nil {
				return nil, nil, err
			}
			if accessor.GetDeletionTimestamp() == nil {
				accessor.SetDeletionTimestamp(&now)
				accessor.SetDeletionGracePeriodSeconds(new(int64))
			}
			return input, nil, nil
		}, nil)
	return ignoreNotFound(err)
}

func (r *reconciler) deleteNow(ctx context.Context, cluster logicalcluster.Name, o object) error {
	store, key, out, err := r.locate(o)
	if err != nil {
		return err
	}
	return ignoreNotFound(store.Delete(logicalcluster.NewContext(ctx, cluster), key, out,
		&apistorage.Preconditions{UID: ptrTo(o.meta.GetUID()), ResourceVersion: ptrTo(o.meta.GetResourceVersion())},
		apistorage.ValidateAllObjectFunc, nil, apistorage.DeleteOptions{}))
}

func (r *reconciler) locate(o object) (store apistorage.Interface, key string, out runtime.Object, err error) {
	out, err = r.Layer.NewObject(o.resource)
	if err != nil {
		return nil, "", nil, err
	}
	store, _ = r.Layer.Store(o.resource)
	key = o.resource.Prefix() + "/"
	if namespace := o.meta.GetNamespace(); namespace != "" {
		key += namespace + "/"
	}
	return store, key + o.meta.GetName(), out, nil
}

func ignoreNotFound(err error) error {
	if apistorage.IsNotFound(err) || apistorage.IsConflict(err) || apistorage.IsInvalidObj(err) {
		// Gone, or changed since: the next round sees it.
		return nil
	}
	return err
}

func ptrTo[T any](value T) *T { return &value }
