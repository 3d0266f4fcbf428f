package logicalcluster

import (
	"context"
	"errors"
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
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/tenancy"
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

// object is one that was found in a cluster.
type object struct {
	resource storage.Resource
	obj      runtime.Object
}

// found is what a look into a cluster has found.
type found struct {
	phase.Content
	// nested are the workspaces that are held, by their logical clusters to begin with.
	nested []*tenancyv1alpha1.Workspace
	// others are the objects that may be deleted: all that are held, and those that
	// nothing needs.
	others []object
	// holding are the resources of which an object is held.
	holding map[storage.Resource]bool
	// objects counts all that is there, by resource.
	objects map[storage.Resource]int
}

// look finds out what is in a cluster and what of it is held.
func (r *reconciler) look(ctx context.Context, cluster logicalcluster.Name, lc *corev1alpha1.LogicalCluster) (*found, error) {
	f := &found{
		Content: phase.Content{Remaining: map[schema.GroupResource]int{}, Finalizers: map[string]int{}},
		holding: map[storage.Resource]bool{},
		objects: map[storage.Resource]int{},
	}
	here := tenancy.PlaceOf(cluster, lc).Path
	return f, r.Layer.Each(ctx, cluster, "", func(resource storage.Resource, obj runtime.Object) error {
		accessor, err := meta.Accessor(obj)
		if err != nil || resource == cached.LogicalClusters {
			return err
		}
		f.objects[resource]++
		finalizers := holding(accessor)
		if len(finalizers) > 0 {
			f.hold(resource, finalizers)
		}
		ws, isWorkspace := obj.(*tenancyv1alpha1.Workspace)
		switch {
		case isWorkspace && len(finalizers) > 0:
			f.nested = append(f.nested, ws)
			f.Nested = append(f.Nested, phase.NestedWorkspace{Path: here.Join(ws.Name), Phase: ws.Status.Phase})
		case len(finalizers) > 0 || !slices.Contains(kept, resource):
			f.others = append(f.others, object{resource, obj})
		}
		return nil
	})
}

// hold counts an object that finalizers hold.
func (f *found) hold(resource storage.Resource, finalizers []string) {
	f.holding[resource] = true
	f.Remaining[resource.GroupResource]++
	for _, finalizer := range finalizers {
		f.Finalizers[finalizer]++
	}
}

// empty deletes what can be deleted while something is held. Nested workspaces go first:
// who ends them may need what is here, his service account or the type of the workspace.
// What cannot be deleted becomes the failure of f.
func (r *reconciler) empty(ctx context.Context, cluster logicalcluster.Name, f *found) {
	var err error
	if len(f.nested) > 0 {
		err = r.endNested(ctx, cluster, f.nested)
	} else {
		err = r.endOthers(ctx, cluster, f)
	}
	if err != nil {
		f.Failure, f.Message = corev1alpha1.ReasonContentDeletionFailed, err.Error()
	}
}

// endOthers deletes objects other than nested workspaces: those of resources of which
// nothing is held at one go.
func (r *reconciler) endOthers(ctx context.Context, cluster logicalcluster.Name, f *found) error {
	var free []storage.Resource
	for resource := range f.objects {
		if !f.holding[resource] && !slices.Contains(kept, resource) {
			free = append(free, resource)
		}
	}
	err := r.purge(ctx, cluster, free)
	for _, o := range f.others {
		if f.holding[o.resource] {
			err = errors.Join(err, r.remover().Remove(ctx, cluster, o.resource, o.obj))
		}
	}
	return err
}

func (r *reconciler) remover() removal.Remover {
	return removal.Remover{Layer: r.Layer, Now: r.Clock.Now}
}

// holding returns the finalizers that keep an object from going.
func holding(accessor metav1.Object) []string {
	return slices.DeleteFunc(slices.Clone(accessor.GetFinalizers()), func(f string) bool { return slices.Contains(cleanupFinalizers, f) })
}
