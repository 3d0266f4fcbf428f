package permissionclaim

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apistorage "k8s.io/apiserver/pkg/storage"

	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/permissionclaims"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// labels labels objects.
type labels struct {
	Config
	changed *changes
	waiting *waiting
}

// reconcile looks at a binding, or at a resource of a cluster.
func (l *labels) reconcile(ctx context.Context, key controller.Key) error {
	select {
	case <-l.Settled:
	case <-ctx.Done():
		return ctx.Err()
	}
	if resource, ok := resourceOf(key); ok {
		return l.label(ctx, key.Cluster, resource)
	}
	return l.reconcileBinding(ctx, key)
}

// labelClaimed labels the objects of a resource that a claim in cluster is or was for.
func (l *labels) labelClaimed(ctx context.Context, cluster logicalcluster.Name, name permissionclaims.Name) error {
	resource := storage.Resource{GroupResource: permissionclaims.Stored(name.GroupResource)}
	if permissionclaims.IsReview(resource.GroupResource) {
		return nil
	}
	if served, ok := l.Lookup(cluster, resource.GroupResource); ok {
		resource.Identity = served.Identity
		if err := l.OpenStore(resource); err != nil {
			return err
		}
	}
	return l.label(ctx, cluster, resource)
}

// label gives those objects of a resource of cluster other labels that have the wrong ones.
func (l *labels) label(ctx context.Context, cluster logicalcluster.Name, resource storage.Resource) error {
	var wrong []metav1.Object
	err := l.Layer.EachOf(ctx, resource, cluster, "", func(obj runtime.Object) error {
		accessor, err := meta.Accessor(obj)
		if err == nil && !l.Index.IsRight(resource, obj) {
			wrong = append(wrong, accessor)
		}
		return err
	})
	if err != nil {
		return err
	}
	var failed []error
	for _, object := range wrong {
		if err := l.correct(ctx, cluster, resource, object.GetNamespace(), object.GetName()); err != nil {
			failed = append(failed, fmt.Errorf("labeling %s %s: %w", resource.GroupResource, object.GetName(), err))
		}
	}
	return errors.Join(failed...)
}

// events are kept for a time that has to be said with every write.
var events = schema.GroupResource{Resource: "events"}

// correct writes an object with the labels it is to have. What they are is decided anew
// for the object as it is then.
func (l *labels) correct(ctx context.Context, cluster logicalcluster.Name, resource storage.Resource, namespace, name string) error {
	store, ok := l.Layer.Store(resource)
	if !ok {
		return nil
	}
	written, err := l.Layer.NewObject(resource)
	if err != nil {
		return err
	}
	var ttl *uint64
	if resource.GroupResource == events {
		ttl = &l.EventTTL
	}
	err = store.GuaranteedUpdate(logicalcluster.NewContext(ctx, cluster), resource.Key(namespace, name), written, false, nil,
		func(input runtime.Object, _ apistorage.ResponseMeta) (runtime.Object, *uint64, error) {
			return input, ttl, l.Index.Correct(resource, input)
		}, nil)
	if apistorage.IsNotFound(err) {
		return nil
	}
	return err
}
