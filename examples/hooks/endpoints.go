package hooks

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

// workspaceType is what the manager reads in the workspace of the current context.
func workspaceType() *unstructured.Unstructured {
	found := &unstructured.Unstructured{}
	found.SetGroupVersionKind(schema.GroupVersionKind{Group: "tenancy.kcp.io", Version: "v1alpha1", Kind: "WorkspaceType"})
	return found
}

// onlyType asks for one type, by name: the account of the controller may read no other.
func onlyType(name string) cache.Options {
	ours := fields.OneTermEqualSelector("metadata.name", name)
	return cache.Options{ByObject: map[client.Object]cache.ByObject{workspaceType(): {Field: ours}}}
}

// followType tells all where the workspaces are that wait for the type: there is one URL
// for each shard.
func followType(m manager.Manager, all *waiting) error {
	follow := func(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
		found := workspaceType()
		if err := m.GetClient().Get(ctx, request.NamespacedName, found); client.IgnoreNotFound(err) != nil {
			return ctrl.Result{}, err
		}
		// Entries are called for the logical cluster that the type is in, whatever its path. A
		// type that is gone has no addresses.
		home := found.GetAnnotations()[clusterAnnotation]
		return ctrl.Result{}, all.at(home, home+":"+request.Name, urls(found, all.kind))
	}
	return ctrl.NewControllerManagedBy(m).Named("type").For(workspaceType()).Complete(reconcile.Func(follow))
}

// urls returns the addresses of a kind in the status of a type.
func urls(found *unstructured.Unstructured, kind Kind) sets.Set[string] {
	all := sets.New[string]()
	addresses, _, _ := unstructured.NestedSlice(found.Object, "status", "virtualWorkspaces")
	for _, address := range addresses {
		fields, _ := address.(map[string]any)
		if fields["type"] != kind.address {
			continue
		}
		if url, _, _ := unstructured.NestedString(fields, "url"); url != "" {
			all.Insert(url)
		}
	}
	return all
}
