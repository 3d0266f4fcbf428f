package catalog

import (
	"context"
	"testing"
	"time"

	"github.com/forkless/kcp/internal/schema"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// TestWatchesOfOthers: anybody may define or export what others call the same. That ends
// no watch over all clusters but those of the metadata of all of them.
func TestWatchesOfOthers(t *testing.T) {
	c, _ := newTestCatalog(t)
	c.watches.grace = time.Millisecond
	watching := func(identity string) context.Context {
		key := keyOfWatch(logicalcluster.Wildcard, bound(t, identity, "a")[0])
		ctx, end := c.watches.begin(t.Context(), key)
		t.Cleanup(end)
		return ctx
	}
	ends := func(ctx context.Context, reason string) {
		t.Helper()
		select {
		case <-ctx.Done():
		case <-time.After(time.Minute):
			t.Fatalf("it goes on: %s", reason)
		}
	}

	watched := watching(identityA)
	metadata := watching(anyIdentity)
	c.Bind(logicalcluster.MustParseName("other"), "x", 1, bound(t, identityB, "a"))
	ends(metadata, "there is another identity")
	metadata = watching(anyIdentity)
	if err := c.Set(logicalcluster.MustParseName("local"), establishedCRD("a", "v1")); err != nil {
		t.Fatal(err)
	}
	ends(metadata, "there is a definition of a workspace's own")
	if watched.Err() != nil {
		t.Error("somebody else's resource has ended a watch")
	}

	local := watching(storage.CustomResources)
	c.Bind(logicalcluster.Root, "x", 1, []schema.Served{guestOf(t)})
	ends(watched, "objects of its identity may be shown in another way from now on")
	if local.Err() != nil {
		t.Error("what a cluster has bound has ended a watch of what clusters define themselves")
	}
}
