package garbage

import (
	"fmt"
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/forkless/kcp/internal/servertest"
)

var (
	configMaps  = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	secrets     = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	accounts    = schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"}
	namespaces  = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	events      = schema.GroupVersionResource{Version: "v1", Resource: "events"}
	roles       = schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles"}
	bindings    = schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterrolebindings"}
	definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	widgets     = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}
	workspaces  = schema.GroupVersionResource{Group: "tenancy.kcp.io", Version: "v1alpha1", Resource: "workspaces"}

	logicalClusters = schema.GroupVersionResource{Group: "core.kcp.io", Version: "v1alpha1", Resource: "logicalclusters"}

	regions = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "regions"}

	kinds = map[schema.GroupVersionResource]string{
		configMaps: "ConfigMap", secrets: "Secret", accounts: "ServiceAccount", namespaces: "Namespace", events: "Event",
		roles: "ClusterRole", bindings: "ClusterRoleBinding", definitions: "CustomResourceDefinition", widgets: "Widget", regions: "Region",
	}
)

// held is a finalizer of nobody: what has it stays until the test takes it away.
const held = "example.com/held"

// workspace is a workspace as its administrator sees it.
type workspace struct {
	t      testing.TB
	client dynamic.Interface
	config *rest.Config
}

// object is where an object is.
type object struct {
	resource        schema.GroupVersionResource
	namespace, name string
}

func (o object) String() string { return o.resource.Resource + " " + o.namespace + "/" + o.name }

func configMap(name string) object { return object{configMaps, "default", name} }

func in(t testing.TB, server *servertest.Server, path string) workspace {
	t.Helper()
	return as(t, server.In(t, "base", path))
}

func as(t testing.TB, config *rest.Config) workspace {
	t.Helper()
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return workspace{t: t, client: client, config: config}
}

// newWorkspace makes a workspace and returns it.
func newWorkspace(t testing.TB, server *servertest.Server) workspace {
	t.Helper()
	return in(t, server, server.Workspace(t, "root", "").Spec.Cluster)
}

func (w workspace) of(o object) dynamic.ResourceInterface {
	if o.namespace == "" {
		return w.client.Resource(o.resource)
	}
	return w.client.Resource(o.resource).Namespace(o.namespace)
}

// with changes an object before it is created.
type with func(*unstructured.Unstructured)

// ownedBy adds references to owners that do not block them.
func ownedBy(owners ...*unstructured.Unstructured) with { return refer(false, owners) }

// blocking adds references to owners that block them.
func blocking(owners ...*unstructured.Unstructured) with { return refer(true, owners) }

func refer(block bool, owners []*unstructured.Unstructured) with {
	return func(obj *unstructured.Unstructured) {
		refs := obj.GetOwnerReferences()
		for _, owner := range owners {
			ref := metav1.OwnerReference{APIVersion: owner.GetAPIVersion(), Kind: owner.GetKind(), Name: owner.GetName(), UID: owner.GetUID()}
			if block {
				ref.BlockOwnerDeletion = ptr.To(true)
			}
			refs = append(refs, ref)
		}
		obj.SetOwnerReferences(refs)
	}
}

func finalized(obj *unstructured.Unstructured) { obj.SetFinalizers([]string{held}) }

// ghost returns an object that does not exist.
func ghost(kind, name string) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{}
	obj.SetAPIVersion("v1")
	obj.SetKind(kind)
	obj.SetName(name)
	obj.SetUID("7a7c0d84-1c2f-4f5e-9f9c-0d6f0c0ffee0")
	return obj
}

func (w workspace) create(o object, changes ...with) *unstructured.Unstructured {
	w.t.Helper()
	created, err := w.tryCreate(o, changes...)
	if err != nil {
		w.t.Fatalf("creating %s: %v", o, err)
	}
	return created
}

func (w workspace) tryCreate(o object, changes ...with) (*unstructured.Unstructured, error) {
	obj := &unstructured.Unstructured{Object: map[string]any{}}
	obj.SetAPIVersion(o.resource.GroupVersion().String())
	obj.SetKind(kinds[o.resource])
	obj.SetName(o.name)
	for _, change := range changes {
		change(obj)
	}
	return w.of(o).Create(w.t.Context(), obj, metav1.CreateOptions{})
}

// delete deletes an object, with a propagation unless that is empty.
func (w workspace) delete(o object, propagation metav1.DeletionPropagation) {
	w.t.Helper()
	options := metav1.DeleteOptions{}
	if propagation != "" {
		options.PropagationPolicy = &propagation
	}
	if err := w.of(o).Delete(w.t.Context(), o.name, options); err != nil {
		w.t.Fatalf("deleting %s: %v", o, err)
	}
}

// patch merges a patch into an object.
func (w workspace) patch(o object, patch string) *unstructured.Unstructured {
	w.t.Helper()
	obj, err := w.of(o).Patch(w.t.Context(), o.name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	if err != nil {
		w.t.Fatalf("changing %s: %v", o, err)
	}
	return obj
}

// letGo takes away the finalizer by which the test holds an object.
func (w workspace) letGo(o object) {
	w.t.Helper()
	obj := w.get(o)
	finalizers := slices.DeleteFunc(obj.GetFinalizers(), func(f string) bool { return f == held })
	obj.SetFinalizers(finalizers)
	servertest.Eventually(w.t, "letting go of "+o.String(), func() (bool, any) {
		_, err := w.of(o).Update(w.t.Context(), obj, metav1.UpdateOptions{})
		if apierrors.IsConflict(err) {
			obj = w.get(o)
			obj.SetFinalizers(slices.DeleteFunc(obj.GetFinalizers(), func(f string) bool { return f == held }))
		}
		return err == nil, err
	})
}

func (w workspace) get(o object) *unstructured.Unstructured {
	w.t.Helper()
	obj, err := w.of(o).Get(w.t.Context(), o.name, metav1.GetOptions{})
	if err != nil {
		w.t.Fatalf("reading %s: %v", o, err)
	}
	return obj
}

// gone waits until objects are gone.
func (w workspace) gone(objects ...object) {
	w.t.Helper()
	for _, o := range objects {
		servertest.Eventually(w.t, o.String()+" goes", func() (bool, any) {
			obj, err := w.of(o).Get(w.t.Context(), o.name, metav1.GetOptions{})
			return apierrors.IsNotFound(err), fmt.Sprint(obj, err)
		})
	}
}

// stays says that objects are there and not being deleted, after the collector has had
// the time to delete something that became garbage later.
func (w workspace) stays(objects ...object) {
	w.t.Helper()
	w.afterwards()
	for _, o := range objects {
		if obj := w.get(o); obj.GetDeletionTimestamp() != nil {
			w.t.Errorf("%s is being deleted: %v", o, obj)
		}
	}
}

// afterwards returns when an object that is garbage from now on has been collected.
func (w workspace) afterwards() {
	w.t.Helper()
	marker := w.create(object{configMaps, "default", ""}, ownedBy(ghost("ConfigMap", "nobody")), func(obj *unstructured.Unstructured) { obj.SetGenerateName("marker-") })
	w.gone(configMap(marker.GetName()))
}

// owners returns the names of the owners of an object.
func (w workspace) owners(o object) []string {
	w.t.Helper()
	var names []string
	for _, ref := range w.get(o).GetOwnerReferences() {
		names = append(names, ref.Name)
	}
	return names
}

// owned waits until an object has exactly these owners.
func (w workspace) owned(o object, by ...string) {
	w.t.Helper()
	servertest.Eventually(w.t, fmt.Sprintf("the owners of %s are %q", o, by), func() (bool, any) {
		owners := w.owners(o)
		return slices.Equal(owners, by), owners
	})
}

// deleting waits until an object is being deleted, and says that it has the finalizer.
func (w workspace) deleting(o object, finalizer string) {
	w.t.Helper()
	servertest.Eventually(w.t, o.String()+" is being deleted", func() (bool, any) {
		obj := w.get(o)
		return obj.GetDeletionTimestamp() != nil && slices.Contains(obj.GetFinalizers(), finalizer), obj
	})
}

// define creates a definition and waits until it is served.
func (w workspace) define(resource schema.GroupVersionResource, scope string, changes ...with) {
	w.t.Helper()
	specified := func(obj *unstructured.Unstructured) {
		obj.Object["spec"] = map[string]any{
			"group": resource.Group,
			"scope": scope,
			"names": map[string]any{"plural": resource.Resource, "kind": kinds[resource]},
			"versions": []any{map[string]any{
				"name": resource.Version, "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object"}},
			}},
		}
	}
	w.create(object{resource: definitions, name: resource.Resource + "." + resource.Group}, append(changes, specified)...)
	servertest.Eventually(w.t, resource.Resource+" are served", func() (bool, any) {
		_, err := w.client.Resource(resource).List(w.t.Context(), metav1.ListOptions{})
		return err == nil, err
	})
}
