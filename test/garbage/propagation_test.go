package garbage

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/internal/servertest"
)

func TestPropagation(t *testing.T) {
	server := servertest.Start(t)
	for name, test := range map[string]func(*testing.T, workspace){
		"BackgroundAcrossKinds":                  backgroundAcrossKinds,
		"BackgroundIsTheDefault":                 backgroundIsTheDefault,
		"OrphansStay":                            orphansStay,
		"OrphansOfCustomResources":               orphansOfCustomResources,
		"ForegroundWaitsForBlocking":             foregroundWaitsForBlocking,
		"ForegroundDoesNotWaitForOthers":         foregroundDoesNotWaitForOthers,
		"ForegroundAllTheWayDown":                foregroundAllTheWayDown,
		"UnblockedOwnersGo":                      unblockedOwnersGo,
		"SolidOwnersKeepWhatOthersWaitFor":       solidOwnersKeepWhatOthersWaitFor,
		"CirclesAreBroken":                       circlesAreBroken,
		"DeletedTwice":                           deletedTwice,
		"Collections":                            collections,
		"DependentsThatAreOrphaningTheirOwn":     dependentsThatAreOrphaningTheirOwn,
		"DependentsCreatedJustBeforeAreOrphaned": dependentsCreatedJustBeforeAreOrphaned,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newWorkspace(t, server))
		})
	}
}

// ConfigMap → custom resource → Secret and ServiceAccount.
func backgroundAcrossKinds(_ *testing.T, w workspace) {
	w.define(widgets, "Namespaced")
	top, widget := configMap("top"), object{widgets, "default", "middle"}
	secret, account := object{secrets, "default", "bottom"}, object{accounts, "default", "bottom"}
	owner := w.create(top)
	middle := w.create(widget, ownedBy(owner))
	w.create(secret, ownedBy(middle))
	w.create(account, ownedBy(middle))
	w.create(configMap("unrelated"))
	w.delete(top, metav1.DeletePropagationBackground)
	w.gone(top, widget, secret, account)
	w.stays(configMap("unrelated"))
}

func backgroundIsTheDefault(_ *testing.T, w workspace) {
	w.define(widgets, "Namespaced")
	for _, top := range []object{configMap("top"), {widgets, "default", "top"}} {
		owner := w.create(top)
		w.create(configMap("bottom"), ownedBy(owner))
		w.delete(top, "")
		w.gone(top, configMap("bottom"))
	}
}

func orphansStay(_ *testing.T, w workspace) {
	owner, other := w.create(configMap("owner")), w.create(configMap("other"))
	w.create(configMap("a"), blocking(owner))
	w.create(object{secrets, "default", "b"}, ownedBy(other, owner))
	w.delete(configMap("owner"), metav1.DeletePropagationOrphan)
	w.gone(configMap("owner"))
	w.owned(configMap("a"))
	w.owned(object{secrets, "default", "b"}, "other")
	w.stays(configMap("a"), object{secrets, "default", "b"})
}

func orphansOfCustomResources(_ *testing.T, w workspace) {
	w.define(widgets, "Namespaced")
	owner := w.create(object{widgets, "default", "owner"})
	w.create(object{widgets, "default", "a"}, ownedBy(owner))
	w.create(configMap("b"), ownedBy(owner))
	w.delete(object{widgets, "default", "owner"}, metav1.DeletePropagationOrphan)
	w.gone(object{widgets, "default", "owner"})
	w.owned(object{widgets, "default", "a"})
	w.owned(configMap("b"))
	w.stays(configMap("b"), object{widgets, "default", "a"})
}

func foregroundWaitsForBlocking(t *testing.T, w workspace) {
	w.define(widgets, "Namespaced")
	owner := w.create(object{widgets, "default", "owner"})
	w.create(configMap("a"), blocking(owner), finalized)
	w.create(configMap("b"), blocking(owner))
	w.delete(object{widgets, "default", "owner"}, metav1.DeletePropagationForeground)
	w.gone(configMap("b"))
	w.deleting(configMap("a"), held)
	w.afterwards()
	w.deleting(object{widgets, "default", "owner"}, metav1.FinalizerDeleteDependents)
	w.letGo(configMap("a"))
	w.gone(configMap("a"), object{widgets, "default", "owner"})
}

func foregroundDoesNotWaitForOthers(_ *testing.T, w workspace) {
	owner := w.create(configMap("owner"))
	w.create(configMap("a"), ownedBy(owner), finalized)
	w.delete(configMap("owner"), metav1.DeletePropagationForeground)
	w.gone(configMap("owner"))
	w.deleting(configMap("a"), held)
	w.letGo(configMap("a"))
	w.gone(configMap("a"))
}

func foregroundAllTheWayDown(_ *testing.T, w workspace) {
	top := w.create(configMap("top"))
	middle := w.create(configMap("middle"), blocking(top))
	w.create(configMap("bottom"), blocking(middle), finalized)
	w.delete(configMap("top"), metav1.DeletePropagationForeground)
	w.deleting(configMap("bottom"), held)
	w.deleting(configMap("middle"), metav1.FinalizerDeleteDependents)
	w.deleting(configMap("top"), metav1.FinalizerDeleteDependents)
	w.letGo(configMap("bottom"))
	w.gone(configMap("bottom"), configMap("middle"), configMap("top"))
}

func unblockedOwnersGo(_ *testing.T, w workspace) {
	owner := w.create(configMap("owner"))
	w.create(configMap("a"), blocking(owner), finalized)
	w.delete(configMap("owner"), metav1.DeletePropagationForeground)
	w.deleting(configMap("a"), held)
	w.patch(configMap("a"), `{"metadata":{"ownerReferences":null}}`)
	w.gone(configMap("owner"))
	w.letGo(configMap("a"))
}

func solidOwnersKeepWhatOthersWaitFor(_ *testing.T, w workspace) {
	solid, going := w.create(configMap("solid")), w.create(configMap("going"))
	w.create(configMap("shared"), blocking(going), ownedBy(solid))
	w.create(configMap("own"), blocking(going))
	w.delete(configMap("going"), metav1.DeletePropagationForeground)
	w.gone(configMap("going"), configMap("own"))
	w.owned(configMap("shared"), "solid")
	w.stays(configMap("shared"))
}

func circlesAreBroken(_ *testing.T, w workspace) {
	a := w.create(configMap("a"))
	b := w.create(configMap("b"), blocking(a))
	c := w.create(configMap("c"), blocking(b))
	a.SetOwnerReferences(nil)
	blocking(c)(a)
	if _, err := w.of(configMap("a")).Update(w.t.Context(), a, metav1.UpdateOptions{}); err != nil {
		w.t.Fatal(err)
	}
	w.delete(configMap("a"), metav1.DeletePropagationForeground)
	w.gone(configMap("a"), configMap("b"), configMap("c"))

	// The smallest circle.
	self := w.create(configMap("self"))
	blocking(self)(self)
	if _, err := w.of(configMap("self")).Update(w.t.Context(), self, metav1.UpdateOptions{}); err != nil {
		w.t.Fatal(err)
	}
	w.delete(configMap("self"), metav1.DeletePropagationForeground)
	w.gone(configMap("self"))
}

// Foreground, then background, while a finalizer holds the owner: as upstream's
// TestDoubleDeletionWithFinalizer.
func deletedTwice(_ *testing.T, w workspace) {
	owner := w.create(configMap("owner"), finalized)
	w.create(configMap("a"), ownedBy(owner))
	w.delete(configMap("owner"), metav1.DeletePropagationForeground)
	w.gone(configMap("a"))
	w.deleting(configMap("owner"), held)
	w.delete(configMap("owner"), metav1.DeletePropagationForeground)
	w.letGo(configMap("owner"))
	w.gone(configMap("owner"))
}

func collections(t *testing.T, w workspace) {
	w.create(object{namespaces, "", "apart"})
	for _, c := range []struct {
		propagation metav1.DeletionPropagation
		stay        bool
	}{{metav1.DeletePropagationOrphan, true}, {metav1.DeletePropagationForeground, false}, {metav1.DeletePropagationBackground, false}} {
		secret := object{secrets, "apart", "owned"}
		for _, name := range []string{"a", "b"} {
			owner := w.create(object{configMaps, "apart", name})
			w.create(object{secrets, "apart", "of-" + name}, blocking(owner))
			if name == "a" {
				w.create(secret, blocking(owner))
			}
		}
		err := w.client.Resource(configMaps).Namespace("apart").DeleteCollection(t.Context(), metav1.DeleteOptions{PropagationPolicy: &c.propagation}, metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		w.gone(object{configMaps, "apart", "a"}, object{configMaps, "apart", "b"})
		all := []object{secret, {secrets, "apart", "of-a"}, {secrets, "apart", "of-b"}}
		if !c.stay {
			w.gone(all...)
			continue
		}
		w.stays(all...)
		for _, o := range all {
			w.owned(o)
			w.delete(o, metav1.DeletePropagationBackground)
		}
	}
}

// The middle is marked to orphan its dependents before it is collected itself.
func dependentsThatAreOrphaningTheirOwn(_ *testing.T, w workspace) {
	top := w.create(configMap("top"))
	middle := w.create(configMap("middle"), ownedBy(top))
	w.create(configMap("bottom"), ownedBy(middle))
	w.patch(configMap("middle"), `{"metadata":{"finalizers":["orphan"]}}`)
	w.delete(configMap("top"), metav1.DeletePropagationBackground)
	w.gone(configMap("top"), configMap("middle"))
	w.owned(configMap("bottom"))
	w.stays(configMap("bottom"))
}

// The collector hears of the owner's resource and the dependent's by different watches.
func dependentsCreatedJustBeforeAreOrphaned(_ *testing.T, w workspace) {
	w.define(widgets, "Namespaced")
	for range 20 {
		owner := w.create(configMap("owner"))
		w.create(object{widgets, "default", "w"}, ownedBy(owner))
		w.create(object{secrets, "default", "s"}, ownedBy(owner))
		w.delete(configMap("owner"), metav1.DeletePropagationOrphan)
		w.gone(configMap("owner"))
		for _, o := range []object{{widgets, "default", "w"}, {secrets, "default", "s"}} {
			w.owned(o)
			w.delete(o, metav1.DeletePropagationBackground)
			w.gone(o)
		}
	}
}
