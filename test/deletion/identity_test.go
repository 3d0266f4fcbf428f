package deletion

import (
	"path/filepath"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	"github.com/forkless/kcp/internal/servertest"
	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
)

// TestOldIdentity: a provider has made his export anew, with another key. What his
// consumers made before is stored under an identity that nobody serves any more, and is
// opened by nobody once the server has been started again. It goes with their workspaces.
func TestOldIdentity(t *testing.T) {
	const name = "wildwest"
	root := t.TempDir()
	server := servertest.StartIn(t, root, servertest.WithUsers(t))
	provider, consumer := server.Workspace(t, "root", "provider"), server.Workspace(t, "root", "consumer")
	inProvider, inConsumer := server.In(t, "base", provider.Spec.Cluster), server.In(t, "base", consumer.Spec.Cluster)
	first := servertest.Export(t, inProvider, name, nil, servertest.CowboySchema())
	servertest.Bind(t, inConsumer, "root:provider", name)
	cowboys := dynamic.NewForConfigOrDie(inConsumer).Resource(servertest.Cowboys).Namespace("default")
	if _, err := cowboys.Create(t.Context(), servertest.Cowboy("billy"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}

	exports := dynamic.NewForConfigOrDie(inProvider).Resource(apisv1alpha2.GroupVersion.WithResource("apiexports"))
	schemas := dynamic.NewForConfigOrDie(inProvider).Resource(apisv1alpha1.GroupVersion.WithResource("apiresourceschemas"))
	for _, err := range []error{
		exports.Delete(t.Context(), name, metav1.DeleteOptions{}),
		schemas.Delete(t.Context(), servertest.CowboySchema().Name, metav1.DeleteOptions{}),
		clientOf(t, server, provider.Spec.Cluster).CoreV1().Secrets("kcp-system").Delete(t.Context(), name, metav1.DeleteOptions{}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	second := servertest.Export(t, inProvider, name, nil, servertest.CowboySchema())
	if first.Status.IdentityHash == second.Status.IdentityHash {
		t.Fatal("the export has the identity it had before")
	}
	servertest.Eventually(t, "the objects of the new identity are served", func() (bool, any) {
		_, err := cowboys.Get(t.Context(), "billy", metav1.GetOptions{})
		return apierrors.IsNotFound(err), err
	})
	server.Stop()

	t.Run("Before", func(t *testing.T) {
		if keys := keysOf(t, root, first.Status.IdentityHash+"/"+consumer.Spec.Cluster); len(keys) != 1 {
			t.Errorf("the object of the old identity is not where it is looked for: %v", keys)
		}
	})
	server = servertest.StartIn(t, root, servertest.WithUsers(t))
	remove(t, server, "root", "consumer")
	server.Stop()
	t.Run("After", func(t *testing.T) {
		if keys := keysOf(t, root, "/"+consumer.Spec.Cluster); len(keys) > 0 {
			t.Errorf("there are left:\n%s", strings.Join(keys, "\n"))
		}
	})
}

// keysOf returns the keys of a stopped server that contain text. The server may be started
// again when the test is over.
func keysOf(t *testing.T, root, text string) []string {
	t.Helper()
	keys, err := servertest.OpenEtcd(t, filepath.Join(root, "etcd-server")).Keys(text)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}
