package logicalcluster

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/storage/cached"
	"github.com/forkless/kcp/internal/storage/removal"
	"github.com/forkless/kcp/internal/tenancy/phase"
	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// kept are the resources whose objects stay as long as anything is held: what is held
// may need them to be reached and let go.
var kept = []storage.Resource{
	cached.LogicalClusters,
	cached.CustomResourceDefinitions, cached.APIBindings,
	cached.Namespaces,
	cached.Roles, cached.RoleBindings, cached.ClusterRoles, cached.ClusterRoleBindings,
}

// cleanupFinalizers are those by which definitions and bindings wait for their instances.
// They hold nothing here: the instances go with the cluster.
var cleanupFinalizers = []string{"customresourcecleanup.apiextensions.k8s.io", apisv1alpha1.APIBindingFinalizer}

// empty deletes what can be deleted the ordinary way and returns what is held by
// finalizers. If nothing is held it deletes nothing: the caller does that at one go.
func (r *reconciler) empty(ctx context.Context, cluster logicalcluster.Name) (*phase.Content, error) {
	content := &phase.Content{Remaining: map[schema.GroupResource]int{}, Finalizers: map[string]int{}}
	type object struct {
		resource storage.Resource
		obj      runtime.Object
	}
	var removable []object
	err := r.Layer.Each(ctx, cluster, "", func(resource storage.Resource, obj runtime.Object) error {
		if resource == cached.LogicalClusters {
			return nil
		}
		accessor, err := meta.Accessor(obj)
		if err != nil {
			return err
		}
		finalizers := holding(accessor)
		if len(finalizers) > 0 {
			content.Remaining[resource.GroupResource]++
			for _, finalizer := range finalizers {
				content.Finalizers[finalizer]++
			}
		}
		if len(finalizers) > 0 || !slices.Contains(kept, resource) {
			removable = append(removable, object{resource, obj})
		}
		return nil
	})
	if err != nil || content.Gone() {
		return content, err
	}
	remover := removal.Remover{Layer: r.Layer, Now: r.Clock.Now}
	for _, o := range removable {
		if err := remover.Remove(ctx, cluster, o.resource, o.obj); err != nil {
			content.Failure, content.Message = corev1alpha1.ReasonContentDeletionFailed, err.Error()
		}
	}
	return content, nil
}

// holding returns the finalizers that keep an object from going.
func holding(accessor metav1.Object) []string {
	return slices.DeleteFunc(slices.Clone(accessor.GetFinalizers()), func(f string) bool { return slices.Contains(cleanupFinalizers, f) })
}
