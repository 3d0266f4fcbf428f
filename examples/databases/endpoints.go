package main

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// endpointSlice is what the manager reads in the provider's workspace, and all of it.
func endpointSlice() *unstructured.Unstructured {
	slice := &unstructured.Unstructured{}
	slice.SetGroupVersionKind(schema.GroupVersionKind{Group: "apis.kcp.io", Version: "v1alpha1", Kind: "APIExportEndpointSlice"})
	return slice
}

// onlyEndpointsOf asks for the endpoint slice of one export, by name: the account of the
// controller may read no other.
func onlyEndpointsOf(export string) cache.Options {
	ours := fields.OneTermEqualSelector("metadata.name", export)
	return cache.Options{ByObject: map[client.Object]cache.ByObject{endpointSlice(): {Field: ours}}}
}

// followEndpoints tells all where the consumers of the export are found: one URL for each
// shard that has any. An export that nobody has bound has none.
func followEndpoints(m manager.Manager, all *consumers) error {
	follow := func(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
		slice := endpointSlice()
		if err := m.GetClient().Get(ctx, request.NamespacedName, slice); client.IgnoreNotFound(err) != nil {
			return ctrl.Result{}, err
		}
		// A slice that is gone has no endpoints.
		return ctrl.Result{}, all.at(urls(slice))
	}
	return ctrl.NewControllerManagedBy(m).Named("endpoints").For(endpointSlice()).Complete(reconcile.Func(follow))
}

// urls returns the endpoints in the status of a slice.
func urls(slice *unstructured.Unstructured) sets.Set[string] {
	found := sets.New[string]()
	endpoints, _, _ := unstructured.NestedSlice(slice.Object, "status", "endpoints")
	for _, endpoint := range endpoints {
		fields, _ := endpoint.(map[string]any)
		if url, _, _ := unstructured.NestedString(fields, "url"); url != "" {
			found.Insert(url)
		}
	}
	return found
}
