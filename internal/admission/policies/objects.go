package policies

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/forkless/kcp/internal/builtin"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// fromMemory makes registries answer from the watch cache, as informers would.
const fromMemory = "0"

// Registry returns the registry that serves a resource in a cluster, or a NotFound
// Status.
type Registry func(cluster logicalcluster.Name, resource schema.GroupVersionResource) (rest.Storage, error)

// Registries are Objects that are read through the registries that serve them, without
// authorization and without HTTP.
type Registries Registry

var _ Objects = Registries(nil)

// Get implements Objects.
func (r Registries) Get(ctx context.Context, resource schema.GroupVersionResource, namespace, name string) (runtime.Object, error) {
	registry, err := r.registry(ctx, resource)
	if err != nil {
		return nil, err
	}
	getter, ok := registry.(rest.Getter)
	if !ok {
		return nil, fmt.Errorf("%s cannot be read", resource)
	}
	obj, err := getter.Get(request.WithNamespace(ctx, namespace), name, &metav1.GetOptions{ResourceVersion: fromMemory})
	if err != nil {
		return nil, err
	}
	return versioned(obj, resource.GroupVersion())
}

// List implements Objects.
func (r Registries) List(ctx context.Context, resource schema.GroupVersionResource, namespace string, selector labels.Selector) ([]runtime.Object, error) {
	registry, err := r.registry(ctx, resource)
	if err != nil {
		return nil, err
	}
	lister, ok := registry.(rest.Lister)
	if !ok {
		return nil, fmt.Errorf("%s cannot be listed", resource)
	}
	list, err := lister.List(request.WithNamespace(ctx, namespace),
		&internalversion.ListOptions{LabelSelector: selector, ResourceVersion: fromMemory})
	if err != nil {
		return nil, err
	}
	var all []runtime.Object
	err = meta.EachListItem(list, func(obj runtime.Object) error {
		item, err := versioned(obj, resource.GroupVersion())
		all = append(all, item)
		return err
	})
	return all, err
}

func (r Registries) registry(ctx context.Context, resource schema.GroupVersionResource) (rest.Storage, error) {
	cluster, err := logicalcluster.Require(ctx)
	if err != nil {
		return nil, err
	}
	return r(cluster, resource)
}

// versioned returns what a registry has answered in the version that was asked for.
// Custom resources are in it already; built-in ones are in the internal version.
func versioned(obj runtime.Object, version schema.GroupVersion) (runtime.Object, error) {
	if _, ok := obj.(*unstructured.Unstructured); ok {
		return obj, nil
	}
	// What comes from the watch cache shares memory with it. The conversion may keep
	// that, since nobody changes what is read here.
	scheme := builtin.Scheme
	if !scheme.IsVersionRegistered(version) {
		scheme = builtin.ExtensionsScheme
	}
	return scheme.UnsafeConvertToVersion(obj, version)
}
