package bindings

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/internal/servertest"
	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	"github.com/forkless/kcp/pkg/apis/conditions"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

var (
	namespaces = corev1.SchemeGroupVersion.WithResource("namespaces")
	workspaces = tenancyv1alpha1.GroupVersion.WithResource("workspaces")
)

func deleted(t *testing.T, server *servertest.Server) {
	p, c, other := provider(t, server), newWorkspace(t, server), newWorkspace(t, server)
	c.bind("cowboys", p, "cowboys")
	other.bind("cowboys", p, "cowboys")
	for i := range 5 {
		c.put(cowboys, fmt.Sprintf("cowboy-%d", i))
	}
	other.put(cowboys, "billy")
	c.delete(bindings, "", "cowboys")
	c.gone(bindings, "", "cowboys")
	if got := c.locks(); got != "{}" {
		t.Errorf("locks are %s", got)
	}
	served(t, c, "cowboys")
	c.bind("cowboys", p, "cowboys")
	if n := c.count(cowboys); n != 0 {
		t.Errorf("%d objects are there again", n)
	}
	if n := other.count(cowboys); n != 1 {
		t.Errorf("%d objects in another workspace, want 1", n)
	}
}

func heldByFinalizers(t *testing.T, server *servertest.Server) {
	p, c := provider(t, server), newWorkspace(t, server)
	c.bind("cowboys", p, "cowboys")
	c.put(cowboys, "billy", "example.com/hold")
	c.put(cowboys, "jane", "example.com/hold", "example.com/keep")
	c.put(cowboys, "joe")
	c.delete(bindings, "", "cowboys")
	message := c.says("cowboys", apisv1alpha1.BindingResourceDeleteSuccess, apisv1alpha1.ReasonSomeFinalizersRemain)
	want := "Some content in the workspace has finalizers remaining: example.com/hold in 2 resource instances, example.com/keep in 1 resource instances"
	if message != want {
		t.Errorf("says %q, want %q", message, want)
	}
	served(t, c, "cowboys", "delete", "deletecollection", "get", "list", "watch")
	_, err := c.resource(cowboys, "default").Create(t.Context(), object(cowboys, "new", nil), metav1.CreateOptions{})
	if !apierrors.IsForbidden(err) {
		t.Errorf("an object could be created: %v", err)
	}
	c.patch(cowboys, "default", "billy", `{"metadata":{"finalizers":null}}`)
	c.patch(cowboys, "default", "jane", `{"metadata":{"finalizers":null}}`)
	c.gone(bindings, "", "cowboys")
}

// inherited: another binding wants the same objects, and gets them.
func inherited(t *testing.T, server *servertest.Server) {
	p, c := newWorkspace(t, server), newWorkspace(t, server)
	p.schemaFor("today", "cowboys", []string{"hat"})
	p.schemaFor("today", "horses", nil)
	first := p.export("first", "today.cowboys."+group, "today.horses."+group)
	second := newExportOf("second", "today.cowboys."+group)
	second.Spec.Identity = first.Spec.Identity
	p.exportOf(second)

	c.bind("first", p, "first")
	billy := c.put(cowboys, "billy")
	c.put(horses, "jolly")
	c.create(bindings, "APIBinding", newBinding("second", p.path, "second"))
	c.says("second", apisv1alpha1.InitialBindingCompleted, apisv1alpha1.ReasonNamingConflicts)
	c.delete(bindings, "", "first")
	c.gone(bindings, "", "first")
	b := c.bound("second")
	if !conditions.IsTrue(b, conditions.Ready) {
		t.Errorf("got %+v", b.Status)
	}
	got, err := c.resource(cowboys, "default").Get(t.Context(), "billy", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got.GetUID() != billy.GetUID() || got.GetDeletionTimestamp() != nil {
		t.Errorf("the object has not passed to the other binding: %v", got)
	}
	if got, want := c.locks(), `{"cowboys.wildwest.dev":{"n":"second"}}`; got != want {
		t.Errorf("locks are %s, want %s", got, want)
	}
	third := newExportOf("third", "today.horses."+group)
	third.Spec.Identity = first.Spec.Identity
	p.exportOf(third)
	c.bind("third", p, "third")
	if n := c.count(horses); n != 0 {
		t.Errorf("%d objects that nobody has inherited are left", n)
	}
}

func inADyingWorkspace(t *testing.T, server *servertest.Server) {
	p := provider(t, server)
	ws := server.Workspace(t, "root", "")
	c := open(t, server, "root:"+ws.Name, ws.Spec.Cluster)
	root := open(t, server, "root", "root")
	c.bind("cowboys", p, "cowboys")
	c.put(cowboys, "billy", "example.com/hold")
	c.put(cowboys, "jane")
	root.delete(workspaces, "", ws.Name)
	servertest.Eventually(t, "jane is gone while billy is held", func() (bool, any) {
		n := c.count(cowboys)
		return n == 1, n
	})
	c.patch(cowboys, "default", "billy", `{"metadata":{"finalizers":null}}`)
	root.gone(workspaces, "", ws.Name)

	again := server.Workspace(t, "root", ws.Name)
	c = open(t, server, "root:"+ws.Name, again.Spec.Cluster)
	served(t, c, "cowboys")
	c.bind("cowboys", p, "cowboys")
	if n := c.count(cowboys); n != 0 {
		t.Errorf("%d objects of the workspace that was called so before", n)
	}
}

func inADyingNamespace(t *testing.T, server *servertest.Server) {
	p, c := provider(t, server), newWorkspace(t, server)
	c.bind("cowboys", p, "cowboys")
	c.create(namespaces, "Namespace", &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "saloon"}})
	billy := object(cowboys, "billy", nil)
	billy.SetNamespace("saloon")
	if _, err := c.resource(cowboys, "saloon").Create(t.Context(), billy, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	c.put(cowboys, "jane")
	c.delete(namespaces, "", "saloon")
	c.gone(namespaces, "", "saloon")
	if n := c.count(cowboys); n != 1 {
		t.Errorf("%d objects, want the one of another namespace", n)
	}
	c.delete(bindings, "", "cowboys")
	c.gone(bindings, "", "cowboys")
}
