package servertest

import (
	"context"
	"path/filepath"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/forkless/kcp/internal/inprocess"
)

// Archivable is a server in memory that can be saved to an archive when it stops, which
// control planes of pkg/kcptest cannot.
type Archivable struct {
	*inprocess.Server

	admin *rest.Config
}

// StartFrom runs a server in memory until the test ends, with what is in the archive unless
// that is empty.
func StartFrom(t testing.TB, archived string) *Archivable {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	running, err := inprocess.StartFrom(ctx, archived, filepath.Join(t.TempDir(), ".kcp"), "--in-memory")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := running.Stop(); err != nil {
			t.Error(err)
		}
	})
	admin, err := clientcmd.BuildConfigFromFlags("", running.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	admin.QPS = -1
	return &Archivable{Server: running, admin: admin}
}

// In returns the configuration of the admin, directed at a workspace by path.
func (s *Archivable) In(workspace string) *rest.Config {
	config := rest.CopyConfig(s.admin)
	config.Host = s.URL() + "/clusters/" + workspace
	return config
}
