package catalog

import (
	"slices"
	"testing"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/internal/schema"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

const identityA, identityB = "aaaa", "bbbb"

func resource(plural string) apischema.GroupResource {
	return apischema.GroupResource{Group: "example.com", Resource: plural}
}

// bound returns what a binding gives whose export has an identity.
func bound(t *testing.T, identity string, plurals ...string) []schema.Served {
	t.Helper()
	var served []schema.Served
	for _, plural := range plurals {
		definition, err := schema.New(crd(plural, "v1"))
		if err != nil {
			t.Fatal(err)
		}
		served = append(served, schema.Served{
			Definition: definition, Identity: identity,
			Export: schema.Export{Cluster: logicalcluster.Root, Name: "export-" + identity, IdentityHash: identity},
		})
	}
	return served
}

func TestClustersWithEqualBindingsShareEverything(t *testing.T) {
	x := newTestIndex(t, crd("system", "v1"))
	for i := range 3 {
		// The name and version of a binding are not part of what it gives.
		x.bind(cluster(i), []string{"x", "y", "z"}[i], uint64(i), bound(t, identityA, "b", "a"))
	}
	if len(x.definitions) != 2 || len(x.bound) != 1 || len(x.lists) != 1 {
		t.Errorf("%d definitions, %d bound lists, %d lists; want 2, 1, 1", len(x.definitions), len(x.bound), len(x.lists))
	}
	if !sameList(x.list(cluster(0)), x.list(cluster(2))) {
		t.Error("equal clusters have different lists")
	}
	for i := range 3 {
		change := x.unbind(cluster(i), []string{"x", "y", "z"}[i])
		if dropped := len(change.dropped); !change.happened || (dropped == 2) != (i == 2) {
			t.Errorf("removal %d: %d dropped; definitions are dropped with their last use", i, dropped)
		}
	}
	if len(x.clusters)+len(x.definitions)+len(x.bound)+len(x.lists) != 0 {
		t.Error("something is left behind")
	}
}

func TestOldNewsOfABindingIsIgnored(t *testing.T) {
	x := newTestIndex(t)
	x.bind(cluster(1), "x", 5, bound(t, identityA, "a"))
	for _, test := range []struct {
		reason  string
		version uint64
		served  []schema.Served
		changes bool
		want    int
	}{
		{"an older version gives something else", 4, bound(t, identityA, "a", "b"), false, 1},
		{"the same version: what is about to be written", 5, bound(t, identityA, "a", "b"), true, 2},
		{"it has been written", 9, bound(t, identityA, "a", "b"), false, 2},
		{"what was read before it was written", 5, bound(t, identityA, "a"), false, 2},
		{"it gives nothing any more", 10, nil, true, 0},
	} {
		change := x.bind(cluster(1), "x", test.version, test.served)
		if change.happened != test.changes || len(x.list(cluster(1))) != test.want {
			t.Errorf("%s: changed %t, %d definitions", test.reason, change.happened, len(x.list(cluster(1))))
		}
	}
}

func TestLayersOfACluster(t *testing.T) {
	x := newTestIndex(t, crd("system", "v1"))
	x.mustSet(t, cluster(1), crd("a", "v1"), false)
	x.mustSet(t, cluster(1), crd("own", "v1"), false)
	x.bind(cluster(1), "x", 1, bound(t, identityA, "a", "system"))
	identities := func() []string {
		var all []string
		for _, served := range x.list(cluster(1)) {
			all = append(all, served.Definition.GroupResource().Resource+"="+served.Identity)
		}
		return all
	}
	want := []string{"a=" + identityA, "own=" + storage.CustomResources, "system="}
	if got := identities(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q: the system's own win over bindings, these over the cluster's own", got, want)
	}
	x.unbind(cluster(1), "x")
	want = []string{"a=" + storage.CustomResources, "own=" + storage.CustomResources, "system="}
	if got := identities(); !slices.Equal(got, want) {
		t.Errorf("without the binding got %q, want %q", got, want)
	}
}

func TestIdentitiesAreKeptApart(t *testing.T) {
	x := newTestIndex(t)
	x.bind(cluster(1), "x", 1, bound(t, identityA, "a"))
	x.bind(cluster(2), "x", 1, bound(t, identityB, "a"))
	for _, identity := range []string{identityA, identityB} {
		served, ok := x.withIdentity(resource("a"), identity, "v1")
		if !ok || served.Identity != identity {
			t.Errorf("identity %s: got %+v, %t", identity, served, ok)
		}
	}
	if _, ok := x.withIdentity(resource("a"), "cccc", ""); ok {
		t.Error("there is something of an identity that nobody has bound")
	}
	x.unbind(cluster(1), "x")
	if x.defines(storage.Resource{GroupResource: resource("a"), Identity: identityA}) {
		t.Error("the last binding of an identity is gone and its store would stay open")
	}
	if !x.defines(storage.Resource{GroupResource: resource("a"), Identity: identityB}) {
		t.Error("the store of another identity would be closed")
	}
	if _, ok := x.withIdentity(resource("a"), identityA, ""); ok {
		t.Error("the identity is still found")
	}
}

func TestTerminatingBindings(t *testing.T) {
	x := newTestIndex(t)
	x.bind(cluster(1), "x", 1, bound(t, identityA, "a"))
	x.bind(cluster(2), "x", 1, bound(t, identityA, "a"))
	ending := bound(t, identityA, "a")
	ending[0].Terminating = true
	if change := x.bind(cluster(1), "x", 2, ending); !change.happened || len(change.dropped) != 0 {
		t.Errorf("got %+v", change)
	}
	if !x.list(cluster(1))[0].Terminating || x.list(cluster(2))[0].Terminating {
		t.Error("terminating is a matter of one cluster")
	}
}
