package garbage

import (
	"fmt"
	"os"
	"runtime"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/internal/servertest"
)

// TestWorkspacesApart: what is called alike in two workspaces, down to the UID that is
// referred to, is not the same.
func TestWorkspacesApart(t *testing.T) {
	server := servertest.Start(t)
	one, two := newWorkspace(t, server), newWorkspace(t, server)
	for _, w := range []workspace{one, two} {
		w.define(widgets, "Namespaced")
		owner := w.create(object{widgets, "default", "owner"})
		w.create(configMap("a"), ownedBy(owner))
	}
	// Dependents in two of the owner in one.
	foreign := one.get(object{widgets, "default", "owner"})
	two.create(configMap("stray"), blocking(foreign))
	two.create(configMap("adopted"), blocking(foreign), ownedBy(two.get(object{widgets, "default", "owner"})))
	two.gone(configMap("stray"))
	two.owned(configMap("adopted"), "owner")
	one.stays(configMap("a"))

	one.delete(object{widgets, "default", "owner"}, metav1.DeletePropagationForeground)
	one.gone(object{widgets, "default", "owner"}, configMap("a"))
	two.stays(configMap("a"), configMap("adopted"), object{widgets, "default", "owner"})

	// A definition that goes in one does not matter to the other.
	one.delete(object{definitions, "", "widgets.example.com"}, metav1.DeletePropagationBackground)
	one.gone(object{definitions, "", "widgets.example.com"})
	two.stays(configMap("a"))
	two.delete(object{widgets, "default", "owner"}, metav1.DeletePropagationBackground)
	two.gone(configMap("a"), configMap("adopted"))
}

// TestIdleWorkspaces: the collector costs nothing where nothing has owners.
func TestIdleWorkspaces(t *testing.T) {
	idle := 100
	if os.Getenv("KCP_TEST_LONG") != "" {
		idle = 10_000
	}
	server := servertest.Start(t)
	w := newWorkspace(t, server)
	w.create(configMap("owner"))
	before := runtime.NumGoroutine()
	for n := range idle {
		server.Workspace(t, "root", fmt.Sprintf("idle-%d", n))
	}
	var after int
	servertest.Eventually(t, "goroutines of requests end", func() (bool, any) {
		after = runtime.NumGoroutine()
		return after <= before+10, after
	})
	t.Logf("%d goroutines before, %d after %d workspaces", before, after, idle)
}

// TestRestart: what was garbage, or about to be, when the server stopped is collected when
// it starts again, though nobody asks for the custom resources that are in it.
func TestRestart(t *testing.T) {
	root := t.TempDir()
	server := servertest.StartIn(t, root)
	path := server.Workspace(t, "root", "").Spec.Cluster
	w := in(t, server, path)
	w.define(widgets, "Namespaced")
	foreground := w.create(object{widgets, "default", "foreground"})
	w.create(object{widgets, "default", "blocking"}, blocking(foreground), finalized)
	orphaning := w.create(configMap("orphaning"), finalized)
	w.create(object{widgets, "default", "orphan"}, ownedBy(orphaning))
	solid := w.create(configMap("solid"))
	w.create(object{widgets, "default", "solid"}, ownedBy(solid))
	w.delete(object{widgets, "default", "foreground"}, metav1.DeletePropagationForeground)
	w.deleting(object{widgets, "default", "blocking"}, held)
	server.Stop()

	server = servertest.StartIn(t, root)
	w = in(t, server, path)
	w.delete(configMap("solid"), metav1.DeletePropagationBackground)
	w.delete(configMap("orphaning"), metav1.DeletePropagationOrphan)
	w.letGo(configMap("orphaning"))
	w.gone(configMap("orphaning"))
	// Only now somebody asks for widgets.
	w.gone(object{widgets, "default", "solid"})
	w.owned(object{widgets, "default", "orphan"})
	w.deleting(object{widgets, "default", "foreground"}, metav1.FinalizerDeleteDependents)
	w.letGo(object{widgets, "default", "blocking"})
	w.gone(object{widgets, "default", "blocking"}, object{widgets, "default", "foreground"})
	w.stays(object{widgets, "default", "orphan"})
}

// TestWorkspacesAsOwners: Workspaces and LogicalClusters take part, but a workspace ends
// by its own rules.
func TestWorkspacesAsOwners(t *testing.T) {
	server := servertest.Start(t)
	root := in(t, server, "root")
	for _, propagation := range []metav1.DeletionPropagation{metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan} {
		ws := object{workspaces, "", "owner"}
		inside := in(t, server, server.Workspace(t, "root", ws.name).Spec.Cluster)
		root.create(configMap("dependent"), blocking(root.get(ws)), finalized)
		inside.create(configMap("inside"), finalized)
		root.delete(ws, propagation)
		if propagation == metav1.DeletePropagationForeground {
			// Whoever else holds a workspace is waited for before anything in it goes.
			root.deleting(configMap("dependent"), held)
			root.letGo(configMap("dependent"))
			root.gone(configMap("dependent"))
		}
		inside.deleting(configMap("inside"), held)
		inside.letGo(configMap("inside"))
		root.gone(ws)
		if propagation == metav1.DeletePropagationOrphan {
			root.owned(configMap("dependent"))
			root.letGo(configMap("dependent"))
		}
	}

	// Nothing a workspace refers to can end it, and waiting for dependents it goes whole.
	ws := server.Workspace(t, "root", "another")
	inside := in(t, server, ws.Spec.Cluster)
	lc := object{logicalClusters, "", "cluster"}
	owner := inside.create(object{roles, "", "owner"})
	inside.patch(lc, `{"metadata":{"ownerReferences":[{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","name":"owner","uid":"`+string(owner.GetUID())+`"}]}}`)
	inside.create(configMap("dependent"), blocking(inside.get(lc)))
	inside.delete(object{roles, "", "owner"}, metav1.DeletePropagationBackground)
	inside.stays(lc, configMap("dependent"))
	as(t, server.In(t, "shard-base", ws.Spec.Cluster)).delete(lc, metav1.DeletePropagationForeground)
	servertest.Eventually(t, "the workspace is empty", func() (bool, any) {
		_, err := inside.of(lc).Get(t.Context(), lc.name, metav1.GetOptions{})
		return apierrors.IsNotFound(err) || apierrors.IsForbidden(err), err
	})
}
