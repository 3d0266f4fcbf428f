package deletion

import (
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/forkless/kcp/internal/servertest"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

var (
	workspaces = tenancyv1alpha1.GroupVersion.WithResource("workspaces")

	// cases delete a workspace and return the clusters that are gone by then.
	cases = map[string]func(*testing.T, *servertest.Server) []string{
		"Quiet":           quiet,
		"UnderLoad":       underLoad,
		"LateWrite":       lateWrite,
		"CreatingNested":  creatingNested,
		"DeletingAtBirth": deletingAtBirth,
		"HeldByOthers":    heldByOthers,
	}
)

// TestNothingRemains deletes workspaces in all ways there are, stops the server and looks
// into its etcd.
func TestNothingRemains(t *testing.T) {
	root := t.TempDir()
	server := servertest.StartIn(t, root, servertest.WithUsers(t))
	gone := map[string][]string{}
	for name, deleted := range cases {
		t.Run(name, func(t *testing.T) { gone[name] = deleted(t, server) })
	}
	kept := server.Workspace(t, "root", "kept").Spec.Cluster
	server.Stop()

	etcd := servertest.OpenEtcd(t, filepath.Join(root, "etcd-server"))
	keysOf := func(cluster string) []string {
		keys, err := etcd.Keys("/" + cluster)
		if err != nil {
			t.Fatal(err)
		}
		return keys
	}
	if len(keysOf(kept)) == 0 {
		t.Fatal("there are no keys of a workspace that exists: the keys are not looked for as they should be")
	}
	for name, clusters := range gone {
		if len(clusters) == 0 {
			t.Errorf("%s: no cluster to look for", name)
		}
		for _, cluster := range clusters {
			if keys := keysOf(cluster); len(keys) > 0 {
				t.Errorf("%s: of cluster %s there are left:\n%s", name, cluster, strings.Join(keys, "\n"))
			}
		}
	}
}

// quiet: something of everything, and a workspace in it.
func quiet(t *testing.T, server *servertest.Server) []string {
	ws := server.Workspace(t, "root", "quiet")
	child := server.Workspace(t, "root:quiet", "child")
	for _, cluster := range []string{ws.Spec.Cluster, child.Spec.Cluster} {
		client := clientOf(t, server, cluster)
		if _, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "more"}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		_, err := client.CoreV1().Secrets("more").Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "secret"}}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
	}
	remove(t, server, "root", "quiet")
	return []string{ws.Spec.Cluster, child.Spec.Cluster}
}

func clientOf(t *testing.T, server *servertest.Server, workspace string) kubernetes.Interface {
	t.Helper()
	client, err := kubernetes.NewForConfig(server.In(t, "base", workspace))
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func workspacesIn(t *testing.T, server *servertest.Server, parent string) dynamic.ResourceInterface {
	t.Helper()
	client, err := dynamic.NewForConfig(server.In(t, "base", parent))
	if err != nil {
		t.Fatal(err)
	}
	return client.Resource(workspaces)
}

// remove deletes a workspace and waits until it is gone.
func remove(t *testing.T, server *servertest.Server, parent, name string) {
	t.Helper()
	client := workspacesIn(t, server, parent)
	if err := client.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	servertest.Eventually(t, "workspace "+name+" is gone", func() (bool, any) {
		obj, err := client.Get(t.Context(), name, metav1.GetOptions{})
		return apierrors.IsNotFound(err), obj
	})
}
