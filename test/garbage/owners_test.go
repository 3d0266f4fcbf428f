package garbage

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/forkless/kcp/internal/servertest"
)

func TestOwners(t *testing.T) {
	server := servertest.Start(t)
	for name, test := range map[string]func(*testing.T, workspace){
		"ThatDoNotExist":              thatDoNotExist,
		"WithAnotherUID":              withAnotherUID,
		"WithAnotherName":             withAnotherName,
		"ClusterScoped":               clusterScoped,
		"InAnotherNamespace":          inAnotherNamespace,
		"InANamespaceOfAClusterScope": inANamespaceOfAClusterScope,
		"OfUnknownKinds":              ofUnknownKinds,
		"OfVersionsNotServed":         ofVersionsNotServed,
		"OfKindsThatAreDeleted":       ofKindsThatAreDeleted,
		"OfKindsThatHaveNoObjects":    ofKindsThatHaveNoObjects,
		"OfNamespaces":                ofNamespaces,
		"OfEvents":                    ofEvents,
		"GivenLater":                  givenLater,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newWorkspace(t, server))
		})
	}
}

func thatDoNotExist(_ *testing.T, w workspace) {
	solid := w.create(configMap("solid"))
	w.create(configMap("a"), ownedBy(ghost("ConfigMap", "nobody")))
	w.create(configMap("b"), ownedBy(ghost("ConfigMap", "nobody"), solid))
	w.gone(configMap("a"))
	w.owned(configMap("b"), "solid")
	w.stays(configMap("b"))
}

func withAnotherUID(_ *testing.T, w workspace) {
	owner := w.create(configMap("owner"))
	w.create(configMap("a"), ownedBy(owner))
	w.delete(configMap("owner"), metav1.DeletePropagationOrphan)
	w.gone(configMap("owner"))
	w.create(configMap("owner"))
	w.create(configMap("b"), ownedBy(owner))
	w.gone(configMap("b"))
	w.stays(configMap("a"))
}

// What one dependent says wrongly of an owner must not harm those that say it right.
func withAnotherName(_ *testing.T, w workspace) {
	owner := w.create(configMap("owner"))
	wrong := owner.DeepCopy()
	wrong.SetName("somebody")
	w.create(configMap("wrong"), ownedBy(wrong))
	w.create(configMap("right"), ownedBy(owner))
	wrong.SetKind("Secret")
	w.create(configMap("very-wrong"), ownedBy(wrong))
	w.gone(configMap("wrong"), configMap("very-wrong"))
	w.stays(configMap("right"))
}

func clusterScoped(_ *testing.T, w workspace) {
	w.define(regions, "Cluster")
	for _, o := range []object{{regions, "", "owner"}, {roles, "", "owner"}} {
		owner := w.create(o)
		w.create(configMap("a"), ownedBy(owner))
		w.create(object{roles, "", "b"}, blocking(owner))
		w.stays(configMap("a"), object{roles, "", "b"})
		w.delete(o, metav1.DeletePropagationForeground)
		w.gone(o, configMap("a"), object{roles, "", "b"})
	}
	// One that does not exist.
	w.create(configMap("a"), ownedBy(&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Region", "metadata": map[string]any{"name": "gone", "uid": "not-a-uuid"},
	}}))
	w.gone(configMap("a"))
}

func inAnotherNamespace(t *testing.T, w workspace) {
	w.create(object{namespaces, "", "other"})
	owner := w.create(object{configMaps, "other", "owner"})
	w.create(object{configMaps, "other", "good"}, ownedBy(owner))
	w.create(configMap("bad"), ownedBy(owner))
	w.create(configMap("worse"), ownedBy(owner))
	w.gone(configMap("bad"), configMap("worse"))
	w.stays(object{configMaps, "other", "good"})
	w.warned("default", "bad")
	w.warned("default", "worse")
	// A solid owner keeps it, without the reference that is wrong.
	solid := w.create(configMap("solid"))
	w.create(configMap("mixed"), ownedBy(solid, owner))
	w.owned(configMap("mixed"), "solid")
}

func inANamespaceOfAClusterScope(_ *testing.T, w workspace) {
	owner := w.create(configMap("owner"))
	w.create(object{roles, "", "a"}, ownedBy(owner))
	w.create(object{roles, "", "b"}, ownedBy(ghost("ConfigMap", "nobody")))
	w.warned("default", "a")
	w.delete(configMap("owner"), metav1.DeletePropagationForeground)
	w.gone(configMap("owner"))
	w.stays(object{roles, "", "b"})
}

// warned waits for the event that an object has an owner in another namespace.
func (w workspace) warned(namespace, name string) {
	w.t.Helper()
	servertest.Eventually(w.t, "the event about "+name, func() (bool, any) {
		list, err := w.client.Resource(events).Namespace(namespace).List(w.t.Context(), metav1.ListOptions{
			FieldSelector: "reason=OwnerRefInvalidNamespace,type=Warning,involvedObject.name=" + name,
		})
		if err != nil {
			return false, err
		}
		return slices.ContainsFunc(list.Items, func(event unstructured.Unstructured) bool {
			message, _, _ := unstructured.NestedString(event.Object, "message")
			return strings.Contains(message, "does not exist in namespace")
		}), list.Items
	})
}

func ofUnknownKinds(_ *testing.T, w workspace) {
	nobody := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Widget",
		"metadata": map[string]any{"name": "nobody", "uid": "7a7c0d84-1c2f-4f5e-9f9c-0d6f0c0ffee1"},
	}}
	w.create(configMap("a"), ownedBy(nobody))
	w.create(configMap("b"), ownedBy(nobody, ghost("ConfigMap", "nobody")))
	w.stays(configMap("a"), configMap("b"))
	w.define(widgets, "Namespaced")
	w.gone(configMap("a"), configMap("b"))
}

func ofVersionsNotServed(_ *testing.T, w workspace) {
	w.define(widgets, "Namespaced")
	owner := w.create(object{widgets, "default", "owner"})
	owner.SetAPIVersion("example.com/v2")
	w.create(configMap("a"), ownedBy(owner))
	w.delete(object{widgets, "default", "owner"}, metav1.DeletePropagationOrphan)
	w.gone(object{widgets, "default", "owner"})
	w.stays(configMap("a"))
}

// The definition is gone by the time the collector comes to the dependents.
func ofKindsThatAreDeleted(_ *testing.T, w workspace) {
	w.define(widgets, "Namespaced")
	definition := object{definitions, "", "widgets.example.com"}
	for range 3 {
		for _, name := range []string{"a", "b", "c"} {
			owner := w.create(object{widgets, "default", name})
			w.create(configMap("of-"+name), ownedBy(owner))
		}
		w.delete(definition, metav1.DeletePropagationBackground)
		w.gone(definition, configMap("of-a"), configMap("of-b"), configMap("of-c"))
		w.define(widgets, "Namespaced")
	}
	// A definition may be an owner itself.
	w.create(configMap("of-definition"), ownedBy(w.get(definition)))
	w.delete(definition, metav1.DeletePropagationForeground)
	w.gone(definition, configMap("of-definition"))
	// Or have one.
	owner := w.create(object{roles, "", "owner"})
	w.define(widgets, "Namespaced", ownedBy(owner))
	w.create(object{widgets, "default", "a"})
	w.create(configMap("of-widget"), ownedBy(w.get(object{widgets, "default", "a"})))
	w.delete(object{roles, "", "owner"}, metav1.DeletePropagationBackground)
	w.gone(definition, configMap("of-widget"))
}

func ofKindsThatHaveNoObjects(_ *testing.T, w workspace) {
	w.define(widgets, "Namespaced")
	w.create(configMap("a"), ownedBy(&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": "nobody", "uid": "7a7c0d84-1c2f-4f5e-9f9c-0d6f0c0ffee2"},
	}}))
	w.gone(configMap("a"))
	// Nobody can look for a review.
	w.create(configMap("b"), ownedBy(&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "metadata": map[string]any{"name": "nobody", "uid": "7a7c0d84-1c2f-4f5e-9f9c-0d6f0c0ffee3"},
	}}))
	w.stays(configMap("b"))
}

// A namespace that is collected is emptied first; the ones of every workspace stay.
func ofNamespaces(_ *testing.T, w workspace) {
	owner := w.create(object{roles, "", "owner"})
	w.create(object{namespaces, "", "owned"}, blocking(owner))
	w.create(object{configMaps, "owned", "a"}, finalized)
	w.delete(object{roles, "", "owner"}, metav1.DeletePropagationForeground)
	w.deleting(object{configMaps, "owned", "a"}, held)
	w.deleting(object{roles, "", "owner"}, metav1.FinalizerDeleteDependents)
	w.letGo(object{configMaps, "owned", "a"})
	w.gone(object{namespaces, "", "owned"}, object{roles, "", "owner"})

	w.patch(object{namespaces, "", "default"}, `{"metadata":{"ownerReferences":[{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","name":"owner","uid":"`+string(owner.GetUID())+`"}]}}`)
	w.stays(object{namespaces, "", "default"})

	// Orphans of a namespace that was deleted so.
	ns := w.create(object{namespaces, "", "another"})
	w.create(object{roles, "", "orphan"}, ownedBy(ns))
	w.delete(object{namespaces, "", "another"}, metav1.DeletePropagationOrphan)
	w.gone(object{namespaces, "", "another"})
	w.owned(object{roles, "", "orphan"})
}

func ofEvents(_ *testing.T, w workspace) {
	event := object{events, "default", "e"}
	w.create(event, ownedBy(ghost("ConfigMap", "nobody")), func(obj *unstructured.Unstructured) {
		obj.Object["involvedObject"] = map[string]any{"namespace": "default"}
	})
	w.stays(event)
}

func givenLater(_ *testing.T, w workspace) {
	owner := w.create(configMap("owner"))
	dependent := w.create(configMap("a"))
	ownedBy(owner)(dependent)
	if _, err := w.of(configMap("a")).Update(w.t.Context(), dependent, metav1.UpdateOptions{}); err != nil {
		w.t.Fatal(err)
	}
	w.delete(configMap("owner"), metav1.DeletePropagationBackground)
	w.gone(configMap("a"))
}
