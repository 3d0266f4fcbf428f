package main

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// followEndpoints tells all where the consumers of an export are found: one URL for each
// shard that has any. An export that nobody has bound has none.
func followEndpoints(m manager.Manager, export string, all *consumers) error {
	slice := &unstructured.Unstructured{}
	slice.SetGroupVersionKind(schema.GroupVersionKind{Group: "apis.kcp.io", Version: "v1alpha1", Kind: "APIExportEndpointSlice"})
	ours := predicate.NewPredicateFuncs(func(obj client.Object) bool { return obj.GetName() == export })
	follow := func(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
		found := slice.DeepCopy()
		if err := m.GetClient().Get(ctx, request.NamespacedName, found); err != nil {
			return ctrl.Result{}, client.IgnoreNotFound(err)
		}
		return ctrl.Result{}, all.at(urls(found))
	}
	return ctrl.NewControllerManagedBy(m).Named("endpoints").For(slice, builder.WithPredicates(ours)).Complete(reconcile.Func(follow))
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
