package bindings

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/forkless/kcp/internal/servertest"
	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/apis/conditions"
)

// TestTwoProvidersOfOneResource: what is stored of the one is nowhere near the other.
func TestTwoProvidersOfOneResource(t *testing.T) {
	etcd := servertest.StartEtcd(t)
	server := servertest.Start(t, "--etcd-servers="+etcd.Server)
	p, other := provider(t, server), provider(t, server)
	c, d := newWorkspace(t, server), newWorkspace(t, server)
	c.bind("cowboys", p, "cowboys")
	d.bind("cowboys", other, "cowboys")
	c.put(cowboys, "billy")
	d.put(cowboys, "billy")
	d.put(cowboys, "jane")
	if p.identity("cowboys") == other.identity("cowboys") {
		t.Fatal("two providers have one identity")
	}
	for _, test := range []struct {
		identity, cluster string
		want              int
	}{
		{p.identity("cowboys"), c.cluster, 1},
		{p.identity("cowboys"), d.cluster, 0},
		{other.identity("cowboys"), c.cluster, 0},
		{other.identity("cowboys"), d.cluster, 2},
	} {
		keys, err := etcd.Keys("/" + group + "/cowboys/" + test.identity + "/" + test.cluster + "/")
		if err != nil {
			t.Fatal(err)
		}
		if len(keys) != test.want {
			t.Errorf("keys of %s under %s: %v, want %d", test.cluster, test.identity, keys, test.want)
		}
	}
	all, err := etcd.Keys("/" + group + "/cowboys/")
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 3 {
		t.Errorf("keys of the resource: %v, want 3", all)
	}
	if n := c.count(cowboys); n != 1 {
		t.Errorf("%d objects are seen, want 1", n)
	}
	d.delete(bindings, "", "cowboys")
	d.gone(bindings, "", "cowboys")
	if keys, err := etcd.Keys("/" + other.identity("cowboys") + "/"); err != nil || len(keys) != 0 {
		t.Errorf("nothing is left of what went: %v, %v", keys, err)
	}
	if n := c.count(cowboys); n != 1 {
		t.Errorf("%d objects of the other provider are left, want 1", n)
	}
}

// TestIdentityMoves: who has the key of an identity has its objects, in whatever workspace
// the export is. Consumers bind the export where it is now, and then let the old one go.
func TestIdentityMoves(t *testing.T) {
	server := servertest.Start(t)
	p, q, c := provider(t, server), newWorkspace(t, server), newWorkspace(t, server)
	c.bind("cowboys", p, "cowboys")
	uid := c.put(cowboys, "billy").GetUID()
	q.takeOver(p)
	c.create(bindings, "APIBinding", newBinding("moved", q.path, "cowboys"))
	c.says("moved", apisv1alpha1.InitialBindingCompleted, apisv1alpha1.ReasonNamingConflicts)
	c.delete(bindings, "", "cowboys")
	c.gone(bindings, "", "cowboys")
	c.bound("moved")
	c.binding("moved", "it has the schema of its own export", func(b *apisv1alpha2.APIBinding) bool {
		return b.Status.BoundResources[0].Schema.UID == q.uid(schemas, "today.cowboys."+group) && b.Status.APIExportClusterName == q.cluster
	})
	c.isSame("billy", uid)
}

// TestProviderComesBack: a workspace is deleted and made again, with the same export and
// the same key in it. Those who have bound by path have their objects as before.
func TestProviderComesBack(t *testing.T) {
	server := servertest.Start(t)
	root := open(t, server, "root", "root")
	ws := server.Workspace(t, "root", "provider")
	p, c := open(t, server, "root:provider", ws.Spec.Cluster), newWorkspace(t, server)
	p.schemaFor("today", "cowboys", []string{"hat"})
	p.export("cowboys", "today.cowboys."+group)
	key := p.key("cowboys")
	c.bind("cowboys", p, "cowboys")
	uid := c.put(cowboys, "billy").GetUID()
	root.delete(workspaces, "", "provider")
	root.gone(workspaces, "", "provider")
	c.says("cowboys", apisv1alpha1.APIExportValid, apisv1alpha1.ReasonAPIExportNotFound)
	c.isSame("billy", uid)

	again := server.Workspace(t, "root", "provider")
	q := open(t, server, "root:provider", again.Spec.Cluster)
	q.takeOverWith(key)
	c.binding("cowboys", "it follows the path", func(b *apisv1alpha2.APIBinding) bool {
		return conditions.IsTrue(b, apisv1alpha1.APIExportValid) && b.Status.APIExportClusterName == q.cluster
	})
	c.isSame("billy", uid)
}

// TestOneIdentityInTwoExports: they see the same objects.
func TestOneIdentityInTwoExports(t *testing.T) {
	etcd := servertest.StartEtcd(t)
	server := servertest.Start(t, "--etcd-servers="+etcd.Server)
	p, q := provider(t, server), newWorkspace(t, server)
	c, d := newWorkspace(t, server), newWorkspace(t, server)
	q.takeOver(p)
	c.bind("cowboys", p, "cowboys")
	d.bind("cowboys", q, "cowboys")
	c.put(cowboys, "billy")
	d.put(cowboys, "jane")
	keys, err := etcd.Keys("/" + group + "/cowboys/" + p.identity("cowboys") + "/")
	if err != nil || len(keys) != 2 {
		t.Errorf("the objects of both are under one prefix: %v, %v", keys, err)
	}
}

// takeOver exports cowboys with the identity of another provider.
func (w workspace) takeOver(from workspace) {
	w.Helper()
	w.takeOverWith(from.key("cowboys"))
	if got, want := w.identity("cowboys"), from.identity("cowboys"); got != want {
		w.Fatalf("the identity is %s, want %s", got, want)
	}
}

func (w workspace) takeOverWith(key string) {
	w.Helper()
	w.secret("default", "moved", key)
	w.schemaFor("today", "cowboys", []string{"hat"})
	moved := newExportOf("cowboys", "today.cowboys."+group)
	moved.Spec.Identity = &apisv1alpha2.Identity{SecretRef: secretRef("default", "moved")}
	w.exportOf(moved)
}

// key returns the key that the identity of an export is made of.
func (w workspace) key(export string) string {
	w.Helper()
	u, err := w.resource(corev1.SchemeGroupVersion.WithResource("secrets"), "kcp-system").Get(w.Context(), export, metav1.GetOptions{})
	if err != nil {
		w.Fatal(err)
	}
	return string(into[*corev1.Secret](w, u).Data[apisv1alpha1.SecretKeyAPIExportIdentity])
}

// isSame checks that a cowboy is the one with a UID, and not being deleted.
func (w workspace) isSame(name string, uid types.UID) {
	w.Helper()
	got, err := w.resource(cowboys, "default").Get(w.Context(), name, metav1.GetOptions{})
	if err != nil {
		w.Fatal(err)
	}
	if got.GetUID() != uid || got.GetDeletionTimestamp() != nil {
		w.Errorf("%s is not the object it was: %v", name, got)
	}
}

// TestRestart: what is bound is served from the first request on, though schemas and
// exports are gone.
func TestRestart(t *testing.T) {
	directory := t.TempDir()
	server := servertest.StartIn(t, directory)
	p := provider(t, server)
	c, waiting := newWorkspace(t, server), newWorkspace(t, server)
	c.bind("cowboys", p, "cowboys")
	c.put(cowboys, "billy", "example.com/hold")
	waiting.define("cowboys")
	waiting.definition("cowboys", apiextensionsv1.Established, apiextensionsv1.ConditionTrue)
	waiting.create(bindings, "APIBinding", newBinding("cowboys", p.path, "cowboys"))
	waiting.says("cowboys", apisv1alpha1.InitialBindingCompleted, apisv1alpha1.ReasonNamingConflicts)
	p.delete(exports, "", "cowboys")
	p.delete(schemas, "", "today.cowboys."+group)
	c.says("cowboys", apisv1alpha1.APIExportValid, apisv1alpha1.ReasonAPIExportNotFound)
	server.Stop()

	server = servertest.StartIn(t, directory)
	c, p, waiting = open(t, server, c.path, c.cluster), open(t, server, p.path, p.cluster), open(t, server, waiting.path, waiting.cluster)
	if n := c.count(cowboys); n != 1 {
		t.Errorf("%d objects, want 1", n)
	}
	c.put(cowboys, "jane")
	c.delete(bindings, "", "cowboys")
	c.says("cowboys", apisv1alpha1.BindingResourceDeleteSuccess, apisv1alpha1.ReasonSomeFinalizersRemain)
	c.patch(cowboys, "default", "billy", `{"metadata":{"finalizers":null}}`)
	c.gone(bindings, "", "cowboys")

	p.schemaFor("today", "cowboys", []string{"hat"})
	p.export("cowboys", "today.cowboys."+group)
	waiting.says("cowboys", apisv1alpha1.InitialBindingCompleted, apisv1alpha1.ReasonNamingConflicts)
	waiting.delete(definitions, "", "cowboys."+group)
	waiting.bound("cowboys")
}
