package catalog

import (
	"testing"
	"time"

	"github.com/forkless/kcp/internal/schema"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// guestOf returns what an export gives, with all that it takes to compile it.
func guestOf(t *testing.T) schema.Served {
	t.Helper()
	definition, err := schema.New(establishedCRD("a", "v1"))
	if err != nil {
		t.Fatal(err)
	}
	served := bound(t, identityA, "a")[0]
	served.Definition = definition
	return served
}

// TestGuestsLeaveNothing: what nobody has bound can be asked for, which opens a store. It
// is shared by all who ask, and goes with them.
func TestGuestsLeaveNothing(t *testing.T) {
	c, opener := newTestCatalog(t)
	c.watches.grace, c.guestGrace = time.Millisecond, time.Millisecond
	resource := storage.Resource{GroupResource: resource("a"), Identity: identityA}

	first, second := c.enter(guestOf(t)), c.enter(guestOf(t))
	if first.Definition != second.Definition {
		t.Error("two requests at a time do not share what they are served with")
	}
	if _, err := c.version(first, "v1"); err != nil {
		t.Fatal(err)
	}
	c.leave(first)
	if opener.timesClosed(resource) != 0 || len(c.index.definitions) != 1 {
		t.Error("the store is closed under a request")
	}
	c.leave(second)
	deadline := time.Now().Add(time.Minute)
	for tick := time.NewTicker(time.Millisecond); opener.timesClosed(resource) == 0; <-tick.C {
		if time.Now().After(deadline) {
			t.Fatal("the store is not closed though nobody asks any more")
		}
	}
	if len(c.index.definitions)+len(c.apis.all)+len(c.stores.open) != 0 {
		t.Errorf("%d definitions, %d compiled, %d stores are left", len(c.index.definitions), len(c.apis.all), len(c.stores.open))
	}
}

// TestGuestsOfWhatIsBound: requests that come and go leave to clusters what these have.
func TestGuestsOfWhatIsBound(t *testing.T) {
	c, opener := newTestCatalog(t)
	c.watches.grace, c.guestGrace = time.Millisecond, time.Hour
	c.Bind(logicalcluster.Root, "x", 1, []schema.Served{guestOf(t)})
	guest := c.enter(guestOf(t))
	if _, err := c.version(guest, "v1"); err != nil {
		t.Fatal(err)
	}
	c.leave(guest)
	if served, ok := c.Lookup(logicalcluster.Root, resource("a")); !ok || served.Definition != guest.Definition {
		t.Error("the cluster lost what it has bound")
	}
	if len(c.apis.all) != 1 {
		t.Error("what the cluster uses is not compiled any more")
	}

	guest = c.enter(guestOf(t))
	c.Unbind(logicalcluster.Root, "x")
	if len(c.apis.all) != 1 {
		t.Error("what a request uses is not compiled any more")
	}
	c.forget(guest)
	if len(c.apis.all) != 0 {
		t.Error("what nobody uses is kept")
	}
	if opened := opener.opened[storage.Resource{GroupResource: resource("a"), Identity: identityA}]; opened != 1 {
		t.Errorf("opened %d times", opened)
	}
}
