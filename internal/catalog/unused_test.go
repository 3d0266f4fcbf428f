package catalog

import (
	"testing"
	"time"

	"github.com/forkless/kcp/internal/storage"
)

// TestStoreGoesWithTheLastDefinition: a workspace that defines and removes one resource
// after the other must not leave a watch of etcd and a dozen goroutines for each.
func TestStoreGoesWithTheLastDefinition(t *testing.T) {
	c, opener := newTestCatalog(t)
	c.watches.grace = time.Millisecond
	resource := storage.Resource{GroupResource: crdResource("a"), Identity: storage.CustomResources}
	serve := func(i int) {
		t.Helper()
		served, ok := c.Lookup(cluster(i), crdResource("a"))
		if !ok {
			t.Fatal("the definition is not served")
		}
		if _, err := c.version(served, "v1"); err != nil {
			t.Fatal(err)
		}
	}
	define := func(i int) {
		t.Helper()
		if err := c.Set(cluster(i), establishedCRD("a", "v1")); err != nil {
			t.Fatal(err)
		}
	}
	define(1)
	define(2)
	serve(1)
	c.Delete(cluster(1), "a.example.com")
	// Had it been closed it would be opened again.
	serve(2)
	if opener.opened[resource] != 1 {
		t.Errorf("opened %d times: another workspace still has the definition", opener.opened[resource])
	}
	c.Delete(cluster(2), "a.example.com")
	deadline := time.Now().Add(time.Minute)
	for tick := time.NewTicker(time.Millisecond); opener.timesClosed(resource) == 0; <-tick.C {
		if time.Now().After(deadline) {
			t.Fatal("the store is not closed though nobody has the definition")
		}
	}
	if len(c.stores.open) != 0 {
		t.Errorf("%d stores are remembered", len(c.stores.open))
	}
	define(3)
	serve(3)
	if opener.opened[resource] != 2 {
		t.Errorf("opened %d times, want again for a new definition", opener.opened[resource])
	}
}

// TestLateRequestLeavesNothing: a request that has found a definition just before it was
// removed compiles it for itself alone.
func TestLateRequestLeavesNothing(t *testing.T) {
	c, _ := newTestCatalog(t)
	if err := c.Set(cluster(1), establishedCRD("a", "v1")); err != nil {
		t.Fatal(err)
	}
	served, _ := c.Lookup(cluster(1), crdResource("a"))
	c.Delete(cluster(1), "a.example.com")
	if _, err := c.version(served, "v1"); err != nil {
		t.Fatal(err)
	}
	if len(c.apis.all) != 0 {
		t.Error("what nobody has is kept for ever")
	}
}
