package server_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	"github.com/forkless/kcp/internal/servertest"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

// TestInMemory: nothing is on the disk but the kubeconfig, and the lock while the server
// runs.
func TestInMemory(t *testing.T) {
	s := servertest.StartIn(t, filepath.Join(t.TempDir(), ".kcp"), "--in-memory")
	s.Workspace(t, "root", "a")
	wantFiles(t, s.RootDirectory, "admin.kubeconfig", "kcp.lock")
	s.Stop()
	wantFiles(t, s.RootDirectory, "admin.kubeconfig")
	again := servertest.StartIn(t, s.RootDirectory, "--in-memory")
	again.Workspace(t, "root", "a")
}

// TestInMemoryBetween: a directory that was used before is found again as it was left.
func TestInMemoryBetween(t *testing.T) {
	root := filepath.Join(t.TempDir(), ".kcp")
	first := servertest.StartIn(t, root)
	first.Workspace(t, "root", "kept")
	first.Stop()
	between := servertest.StartIn(t, root, "--in-memory")
	between.Workspace(t, "root", "kept")
	between.Stop()
	again := servertest.StartIn(t, root)
	client, err := dynamic.NewForConfig(again.In(t, "base", "root"))
	if err != nil {
		t.Fatal(err)
	}
	workspaces := client.Resource(tenancyv1alpha1.GroupVersion.WithResource("workspaces"))
	if _, err := workspaces.Get(t.Context(), "kept", metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
}

func wantFiles(t *testing.T, directory string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(directory)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, entry := range entries {
		got = append(got, entry.Name())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files in the root directory (-want +got)\n%s", diff)
	}
}
