package logicalcluster

import (
	"testing"

	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/storage/cached"
)

// TestOrderOfRemoval: a crash between two transactions must leave what tells the next
// round, maybe of another process, which stores there is something in.
func TestOrderOfRemoval(t *testing.T) {
	custom := storage.Resource{Identity: storage.CustomResources}
	custom.Group, custom.Resource = "example.com", "widgets"
	got := inOrder([]storage.Resource{cached.LogicalClusters, cached.Namespaces, cached.CustomResourceDefinitions, custom})
	want := []storage.Resource{cached.Namespaces, custom, cached.CustomResourceDefinitions, cached.LogicalClusters}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("at %d: got %s, want %s", i, got[i].Prefix(), want[i].Prefix())
		}
	}
}
