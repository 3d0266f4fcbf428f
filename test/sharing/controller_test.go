package sharing

import (
	"testing"

	"github.com/forkless/kcp/internal/servertest"
)

const (
	shop = "root:acme:shop"
	bank = "root:acme:bank"
)

// TestConsumersComeAndGo: objects of the same name are kept apart, and the watch ends with
// the last consumer and begins again with the next.
func TestConsumersComeAndGo(t *testing.T) {
	w := newWorld(t, "shop", "bank")
	w.controller(t)
	passwords := map[string]string{}
	for _, consumer := range []string{shop, bank} {
		w.bind(t, consumer)
		w.ask(t, consumer, "orders")
		w.served(t, consumer, "orders")
		passwords[w.field(t, consumer, "secret/orders-credentials", ".data.password")] = consumer
	}
	if len(passwords) != 2 || passwords[""] != "" {
		t.Errorf("two workspaces have these passwords for databases of one name: %v", passwords)
	}

	w.kubectl(t, bank, "delete", "apibinding", "databases")
	w.ask(t, shop, "alone")
	w.served(t, shop, "alone")

	w.kubectl(t, shop, "delete", "apibinding", "databases")
	servertest.Eventually(t, "no endpoint, since there are no consumers", func() (bool, any) {
		endpoints := w.field(t, provider, "apiexportendpointslice/databases", ".status.endpoints")
		return endpoints == "" || endpoints == "[]", endpoints
	})
	servertest.Eventually(t, "the Secrets to go with their Databases", func() (bool, any) {
		left := w.kubectl(t, shop, "get", "secrets", "-o", "name")
		return left == "", left
	})
	w.bind(t, bank)
	w.ask(t, bank, "orders")
	w.served(t, bank, "orders")
	if again := w.field(t, bank, "secret/orders-credentials", ".data.password"); passwords[again] != "" {
		t.Error("the Database of a new binding has the credentials of an old one")
	}
}

// TestRestarts: neither server nor controller have to be there for the other to go on, and
// what was served before is not written again.
func TestRestarts(t *testing.T) {
	w := newWorld(t, "shop", "bank")
	stop := w.controller(t)
	for _, consumer := range []string{shop, bank} {
		w.bind(t, consumer)
		w.ask(t, consumer, "orders")
		w.served(t, consumer, "orders")
	}
	before := w.versions(t)

	w.restart(t)
	w.ask(t, shop, "after-the-server")
	w.served(t, shop, "after-the-server")

	stop()
	for _, consumer := range []string{shop, bank} {
		w.ask(t, consumer, "meanwhile")
	}
	w.controller(t)
	for _, consumer := range []string{shop, bank} {
		w.served(t, consumer, "meanwhile")
	}
	if after := w.versions(t); after != before {
		t.Errorf("restarts have written what was served before: versions were %s and are %s", before, after)
	}
}

// versions returns the versions of all that the Databases called orders are made of.
func (w *world) versions(t *testing.T) (versions string) {
	t.Helper()
	for _, consumer := range []string{shop, bank} {
		for _, object := range []string{"database/orders", "secret/orders-credentials"} {
			versions += w.field(t, consumer, object, ".metadata.resourceVersion") + " "
		}
	}
	return versions
}

// TestClaims: a consumer who does not give what is claimed is told, nothing is made in his
// workspace, and others are served. When he gives it he is served as well.
func TestClaims(t *testing.T) {
	w := newWorld(t, "shop", "bank")
	w.controller(t)
	w.bind(t, shop)
	w.kubectl(t, shop, "patch", "apibinding", "databases", "--type=json",
		`--patch=[{"op": "replace", "path": "/spec/permissionClaims/0/state", "value": "Rejected"}]`)
	servertest.Eventually(t, "the answer to count", func() (bool, any) {
		applied := w.field(t, shop, "apibinding/databases", ".status.appliedPermissionClaims")
		return applied == "" || applied == "[]", applied
	})
	w.ask(t, shop, "orders")
	w.kubectl(t, shop, "wait", "database/orders", "--for=jsonpath={.status.message}", "--timeout=60s")
	if secrets := w.kubectl(t, shop, "get", "secrets", "-o", "name"); secrets != "" {
		t.Errorf("a consumer who has rejected the claim has got %s", secrets)
	}

	w.bind(t, bank)
	w.ask(t, bank, "orders")
	w.served(t, bank, "orders")

	w.kubectl(t, shop, "patch", "apibinding", "databases", "--type=json",
		`--patch=[{"op": "replace", "path": "/spec/permissionClaims/0/state", "value": "Accepted"}]`)
	w.served(t, shop, "orders")
	if message := w.field(t, shop, "database/orders", ".status.message"); message != "" {
		t.Errorf("a Database that is served still says %q", message)
	}
}
