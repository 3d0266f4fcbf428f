package catalog

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/internal/schema"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

func crd(plural string, versions ...string) *apiextensionsv1.CustomResourceDefinition {
	names := apiextensionsv1.CustomResourceDefinitionNames{Plural: plural, Singular: plural, Kind: plural, ListKind: plural + "List"}
	crd := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: plural + ".example.com"},
		Spec:       apiextensionsv1.CustomResourceDefinitionSpec{Group: "example.com", Names: names},
	}
	for i, version := range versions {
		crd.Spec.Versions = append(crd.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{
			Name: version, Served: true, Storage: i == 0,
		})
	}
	crd.Status.AcceptedNames = names
	return crd
}

func cluster(i int) logicalcluster.Name {
	return logicalcluster.MustParseName(fmt.Sprintf("cluster-%d", i))
}

func newTestIndex(t *testing.T, system ...*apiextensionsv1.CustomResourceDefinition) *index {
	t.Helper()
	source, err := EveryCluster(system)
	if err != nil {
		t.Fatal(err)
	}
	return newIndex(source)
}

func (x *index) mustSet(t *testing.T, cluster logicalcluster.Name, crd *apiextensionsv1.CustomResourceDefinition, terminating bool) change {
	t.Helper()
	change, err := x.set(cluster, crd, terminating, func(_, _ *schema.Definition) {})
	if err != nil {
		t.Fatal(err)
	}
	return change
}

func TestEqualClustersShareEverything(t *testing.T) {
	x := newTestIndex(t, crd("system", "v1"))
	for i := range 3 {
		// In different orders: what is equal is shared whatever its history.
		for j := range 2 {
			x.mustSet(t, cluster(i), crd([]string{"a", "b"}[(i+j)%2], "v1"), false)
		}
	}
	if len(x.definitions) != 2 || len(x.lists) != 1 {
		t.Errorf("%d definitions and %d lists for clusters that are equal, want 2 and 1", len(x.definitions), len(x.lists))
	}
	if !sameList(x.list(cluster(0)), x.list(cluster(2))) {
		t.Error("equal clusters have different lists")
	}
	if !sameList(x.list(cluster(7)), x.source.Definitions(cluster(7))) {
		t.Error("a cluster without definitions of its own has the list of the source")
	}
	for i := range 3 {
		change := x.remove(cluster(i), "a.example.com")
		if dropped := change.dropped != nil; dropped != (i == 2) {
			t.Errorf("removal %d: dropped = %t; a definition is dropped with its last use", i, dropped)
		}
		x.remove(cluster(i), "b.example.com")
	}
	if len(x.clusters)+len(x.definitions)+len(x.lists) != 0 {
		t.Errorf("left behind: %d clusters, %d definitions, %d lists", len(x.clusters), len(x.definitions), len(x.lists))
	}
}

func TestListsAreImmutable(t *testing.T) {
	x := newTestIndex(t)
	x.mustSet(t, cluster(0), crd("a", "v1"), false)
	before := x.list(cluster(0))
	x.mustSet(t, cluster(0), crd("a", "v1"), false)
	if !sameList(before, x.list(cluster(0))) {
		t.Error("nothing has changed, and yet there is a new list")
	}
	x.mustSet(t, cluster(0), crd("a", "v1"), true)
	x.mustSet(t, cluster(0), crd("b", "v1"), false)
	if len(before) != 1 || before[0].Terminating {
		t.Errorf("a list that has been handed out changed: %v", before)
	}
	if after := x.list(cluster(0)); len(after) != 2 || !after[0].Terminating {
		t.Errorf("list = %v", after)
	}
}

func TestChanges(t *testing.T) {
	x := newTestIndex(t)
	first := x.mustSet(t, cluster(0), crd("a", "v1"), false)
	if first.before != nil || first.after == nil || first.dropped != nil {
		t.Errorf("a new definition: %+v", first)
	}
	if again := x.mustSet(t, cluster(0), crd("a", "v1"), false); again.before != again.after || again.dropped != nil {
		t.Errorf("the same definition again: %+v", again)
	}
	other := x.mustSet(t, cluster(0), crd("a", "v2"), false)
	if other.before != first.after || other.after == first.after || other.dropped != first.after {
		t.Errorf("another definition of the same name: %+v", other)
	}
	if none := x.remove(cluster(0), "unknown"); none != (change{}) {
		t.Errorf("removing what is not there: %+v", none)
	}
}

// changing is a source that can be changed.
type changing struct{ list []schema.Served }

func (c *changing) Definitions(logicalcluster.Name) []schema.Served { return c.list }

func TestSourceChanges(t *testing.T) {
	source := &changing{}
	x := newIndex(source)
	x.mustSet(t, cluster(0), crd("a", "v1"), false)
	bound, err := schema.New(crd("a", "v9"))
	if err != nil {
		t.Fatal(err)
	}
	source.list = []schema.Served{{Definition: bound, Identity: "hash"}}
	if got := x.list(cluster(0)); len(got) != 1 || got[0].Identity != "hash" {
		t.Errorf("list = %v, want what the source says now, which wins", got)
	}
	source.list = nil
	if got := x.list(cluster(0)); len(got) != 1 || got[0].Identity != "customresources" {
		t.Errorf("list = %v, want the cluster's own definition again", got)
	}
}

func TestMerge(t *testing.T) {
	served := func(identity string, plurals ...string) (list []schema.Served) {
		for _, plural := range plurals {
			definition, err := schema.New(crd(plural, "v1"))
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, schema.Served{Definition: definition, Identity: identity})
		}
		return list
	}
	var got []string
	for _, s := range merge(served("system", "b"), served("bound", "a", "b", "d"), served("own", "b", "c", "d")) {
		got = append(got, s.Definition.GroupResource().Resource+" "+s.Identity)
	}
	want := []string{"a bound", "b system", "c own", "d bound"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("earlier layers win (-want +got):\n%s", diff)
	}
}

// BenchmarkSameDefinition reports what a definition costs in each cluster that has it.
func BenchmarkSameDefinition(b *testing.B) {
	source, err := EveryCluster(nil)
	if err != nil {
		b.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	x := newIndex(source)
	for i := 0; b.Loop(); i++ {
		if _, err := x.set(cluster(i), crd("a", "v1"), false, func(_, _ *schema.Definition) {}); err != nil {
			b.Fatal(err)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(len(x.clusters)), "heap-B/cluster")
	runtime.KeepAlive(x)
}

func crdResource(plural string) apischema.GroupResource {
	return apischema.GroupResource{Group: "example.com", Resource: plural}
}
