package garbagecollector

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/utils/ptr"

	"github.com/forkless/kcp/internal/catalog"
	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/servertest/heap"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

var (
	configMaps = storage.Resource{GroupResource: schema.GroupResource{Resource: "configmaps"}}
	secrets    = storage.Resource{GroupResource: schema.GroupResource{Resource: "secrets"}}
)

// told is a graph, and what it has said to look at since somebody asked.
type toldGraph struct {
	*Graph
	mu     sync.Mutex
	looked []string
	// written is the last write to each resource.
	written map[storage.Resource]uint64
	version uint64
}

func newTold() *toldGraph {
	g := &toldGraph{written: map[storage.Resource]uint64{}}
	g.Graph = NewGraph(func(resource storage.Resource) uint64 { return g.written[resource] }, func(key controller.Key) {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.looked = append(g.looked, key.Cluster.String()+"|"+names[key.Name])
	})
	return g
}

// names are the objects of the tests by what the graph makes of their UIDs.
var names = map[string]string{}

func uidOf(name string) types.UID {
	id := types.UID(uuid.NewSHA1(uuid.NameSpaceOID, []byte(name)).String())
	names[compact(id).String()] = name
	return id
}

// change makes an object of a test another one.
type change func(*core.ConfigMap)

func of(owners ...string) change {
	return func(obj *core.ConfigMap) {
		for _, owner := range owners {
			owner, blocks := strings.CutSuffix(owner, "!")
			ref := metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: owner, UID: uidOf(owner)}
			if blocks {
				ref.BlockOwnerDeletion = ptr.To(true)
			}
			obj.OwnerReferences = append(obj.OwnerReferences, ref)
		}
	}
}

func deleted(finalizers ...string) change {
	return func(obj *core.ConfigMap) {
		obj.DeletionTimestamp = ptr.To(metav1.Now())
		obj.Finalizers = finalizers
	}
}

func in(cluster string) change {
	return func(obj *core.ConfigMap) { obj.Annotations[logicalcluster.AnnotationKey] = cluster }
}

func (g *toldGraph) object(name string, changes ...change) *core.ConfigMap {
	g.version++
	obj := &core.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: name, UID: uidOf(name), ResourceVersion: strconv.FormatUint(g.version, 10),
		Annotations: map[string]string{logicalcluster.AnnotationKey: "root"},
	}}
	for _, change := range changes {
		change(obj)
	}
	return obj
}

func (g *toldGraph) put(name string, changes ...change) {
	g.Changed(configMaps, g.object(name, changes...))
}

func (g *toldGraph) drop(name string, changes ...change) {
	g.Gone(configMaps, g.object(name, changes...))
}

// looks says that the graph has said to look at these objects and no others.
func (g *toldGraph) looks(t *testing.T, reason string, want ...string) {
	t.Helper()
	got := g.looked
	g.looked = nil
	for i := range want {
		if !strings.Contains(want[i], "|") {
			want[i] = "root|" + want[i]
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	got = slices.Compact(got)
	if diff := cmp.Diff(want, got); diff != "" && len(want)+len(got) > 0 {
		t.Errorf("%s (-want +got):\n%s", reason, diff)
	}
}

func TestGraphRemembersWhatMatters(t *testing.T) {
	g := newTold()
	g.put("alone")
	g.put("alone", deleted("example.com/held"))
	g.drop("alone")
	if g.Size() != 0 {
		t.Errorf("%d objects are remembered, and none has to do with another", g.Size())
	}
	g.put("owner")
	g.put("a", of("owner"))
	g.put("b", of("owner", "owner!"))
	g.looks(t, "new references are looked at", "a", "b")
	if g.Size() != 3 {
		t.Errorf("%d objects are remembered, want the dependents and their owner", g.Size())
	}
	g.put("a")
	g.drop("b", of("owner"))
	if g.Size() != 0 {
		t.Errorf("%d objects are remembered of which nothing is left", g.Size())
	}
	g.looks(t, "nothing is garbage")
}

func TestGraphOwnersGo(t *testing.T) {
	g := newTold()
	g.put("a", of("owner"))
	g.put("b", of("owner", "other"))
	g.put("b", of("owner", "other"))
	g.looks(t, "each dependent is looked at once", "a", "b")
	g.put("owner")
	g.looks(t, "that an owner exists changes nothing")
	g.drop("owner")
	g.looks(t, "its dependents may be garbage", "a", "b")
	g.put("c", of("owner"))
	g.looks(t, "so may those that come late", "c")
	if !g.owner(logicalcluster.Root, uidOf("owner")).fits("default", metav1.OwnerReference{APIVersion: "v1", Name: "owner"}, kindOf(configMaps), true) {
		t.Error("it is not remembered that the owner is gone")
	}
	g.put("owner")
	g.looks(t, "an owner that comes back matters to all", "a", "b", "c")
}

func TestGraphForeground(t *testing.T) {
	g := newTold()
	g.put("owner")
	g.put("a", of("owner!"))
	g.put("b", of("owner!"))
	g.put("c", of("owner"))
	g.looks(t, "they are new", "a", "b", "c")
	g.put("owner", deleted(metav1.FinalizerDeleteDependents))
	g.looks(t, "the dependents go, and the owner when it may", "a", "b", "c", "owner")
	g.put("owner", deleted(metav1.FinalizerDeleteDependents))
	g.looks(t, "that it waits is known")
	g.put("a", of("owner!"), deleted("example.com/held"))
	g.drop("b", of("owner!"))
	g.looks(t, "one still blocks it")
	if i, _ := g.item(keyOf(logicalcluster.Root, uidOf("owner")).queued()); !i.blocked {
		t.Error("the owner is not blocked")
	}
	g.put("a", of("owner"), deleted("example.com/held"))
	g.looks(t, "none blocks it any more", "owner")
	g.drop("owner")
	g.looks(t, "what did not block it is looked at again", "a", "c")
}

func TestGraphOrphaning(t *testing.T) {
	g := newTold()
	g.put("a", of("owner"))
	g.looks(t, "it is new", "a")
	g.put("owner", deleted(metav1.FinalizerOrphanDependents))
	g.looks(t, "only the owner has something to do", "owner")
	g.put("owner", deleted(metav1.FinalizerOrphanDependents, "x"))
	g.looks(t, "which it has been told")
	if got := g.dependents(keyOf(logicalcluster.Root, uidOf("owner")).queued()); len(got) != 1 || got[0].name != "a" {
		t.Errorf("its dependents are %v", got)
	}
}

func TestGraphClustersApart(t *testing.T) {
	g := newTold()
	g.put("a", of("owner"))
	g.put("a", of("owner"), in("tenant"))
	g.looks(t, "they are new", "a", "tenant|a")
	g.drop("owner", in("tenant"))
	g.looks(t, "the same UID in another cluster is another owner", "tenant|a")
	if g.owner(logicalcluster.Root, uidOf("owner")).state != unknown {
		t.Error("the owner in root is not known to be gone")
	}
}

func TestGraphGap(t *testing.T) {
	g := newTold()
	g.Began(configMaps)
	g.put("owner")
	g.put("a", of("owner"))
	g.put("b", of("gone"))
	g.put("gone")
	g.Synced(configMaps)
	g.looks(t, "they are new", "a", "b")
	for _, name := range []string{"owner", "gone"} {
		if err := g.found(logicalcluster.Root, uidOf(name), placeOf(name), 1); err != nil {
			t.Fatal(err)
		}
	}
	g.Began(configMaps)
	g.put("owner")
	g.put("a", of("owner"))
	g.Synced(configMaps)
	if g.Size() != 2 {
		t.Errorf("%d objects are remembered, want a and its owner", g.Size())
	}
	// If its owner was missed before b was, b has been looked at, to no effect.
	g.looked = nil

	g.put("b", of("owner"))
	g.Began(configMaps)
	g.put("a", of("owner"))
	g.put("b", of("owner"))
	g.looks(t, "b is new", "b")
	g.Synced(configMaps)
	g.looks(t, "the owner went while nobody told", "a", "b")
	if err := g.found(logicalcluster.Root, uidOf("owner"), placeOf("owner"), 2); err == nil {
		t.Error("what was read before the gap is believed after it")
	}
}

func placeOf(name string) place {
	return location{resource: configMaps, namespace: "default", name: name}.place()
}

func TestGraphParked(t *testing.T) {
	g := newTold()
	g.put("a", of("owner"))
	g.put("b", of("owner"))
	g.put("c", of("owner"), in("tenant"))
	g.looks(t, "they are new", "a", "b", "tenant|c")
	for _, name := range []string{"a", "b"} {
		g.park(keyOf(logicalcluster.Root, uidOf(name)).queued())
	}
	g.park(controller.Key{Cluster: tenant(t), Name: compact(uidOf("c")).String()})
	g.drop("b", of("owner"))
	g.KindsChanged(logicalcluster.Root)
	g.looks(t, "the kinds of one cluster have changed, and one object has gone", "a")
	g.KindsChanged(logicalcluster.Root)
	g.looks(t, "nothing is held back")
	g.drop("c", of("owner"), in("tenant"))
	if len(g.parked) != 0 {
		t.Errorf("%v are held back, though gone", g.parked)
	}
}

func tenant(t *testing.T) logicalcluster.Name {
	name, err := logicalcluster.ParseName("tenant")
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// TestGraphRecent: a custom resource goes, with its definition, before its dependent is
// heard of.
func TestGraphRecent(t *testing.T) {
	g := newTold()
	widgets := storage.Resource{GroupResource: schema.GroupResource{Group: "example.com", Resource: "widgets"}, Identity: storage.CustomResources}
	widget := func(name string) *unstructured.Unstructured {
		obj := &unstructured.Unstructured{Object: map[string]any{}}
		obj.SetKind("Widget")
		obj.SetName(name)
		obj.SetNamespace("default")
		obj.SetUID(uidOf(name))
		obj.SetAnnotations(map[string]string{logicalcluster.AnnotationKey: "root"})
		return obj
	}
	g.Gone(widgets, widget("owner"))
	g.put("a", of("owner"))
	ref := metav1.OwnerReference{APIVersion: "example.com/v1", Kind: "Widget", Name: "owner"}
	if i := g.owner(logicalcluster.Root, uidOf("owner")); i.state != absent || !i.fits("default", ref, catalog.Kind{}, false) {
		t.Errorf("it is not known that the owner has gone: %+v", i)
	}
	for n := range 2 * mostRecent {
		g.Gone(widgets, widget(strconv.Itoa(n)))
	}
	if len(g.recent.places) != mostRecent || len(g.recent.order) != mostRecent {
		t.Errorf("%d are remembered, want %d", len(g.recent.places), mostRecent)
	}
	if _, ok := g.recent.places[keyOf(logicalcluster.Root, uidOf(strconv.Itoa(2*mostRecent-1)))]; !ok {
		t.Error("the last one is not remembered")
	}
}

func TestGraphSelf(t *testing.T) {
	g := newTold()
	g.put("self", of("self!"))
	g.put("self", of("self!"), deleted(metav1.FinalizerDeleteDependents))
	if i, _ := g.item(keyOf(logicalcluster.Root, uidOf("self")).queued()); i.blocked {
		t.Error("an object waits for itself")
	}
}

func TestProgress(t *testing.T) {
	const now = math.MaxUint64
	g := newTold()
	g.written[configMaps] = 3
	g.version = 2
	if g.progress.caughtUp(configMaps, now) {
		t.Error("nothing has been told")
	}
	g.Began(configMaps)
	g.put("a")
	if g.progress.caughtUp(configMaps, now) {
		t.Error("not everything has been told")
	}
	g.Synced(configMaps)
	if !g.progress.caughtUp(configMaps, now) {
		t.Error("the last write has been told, and everything else")
	}
	g.written[configMaps] = 4
	if g.progress.caughtUp(configMaps, now) {
		t.Error("the last write has not been told")
	}
	g.drop("a")
	if !g.progress.caughtUp(configMaps, now) {
		t.Error("it has")
	}
	g.Closed(configMaps)
	if g.progress.caughtUp(configMaps, now) {
		t.Error("a store that is closed may be open again by now")
	}
}

// TestProgressOfOthers writes faster than is told.
func TestProgressOfOthers(t *testing.T) {
	g := newTold()
	g.version = 4
	g.Began(configMaps)
	g.Synced(configMaps)
	g.written[configMaps] = 9
	if g.progress.caughtUp(configMaps, 5) {
		t.Error("what was written until 5 has not been told")
	}
	g.put("a")
	if !g.progress.caughtUp(configMaps, 5) {
		t.Error("what was written later does not matter")
	}
	if g.progress.caughtUp(configMaps, 9) {
		t.Error("unless that is asked for")
	}
}

func TestCompact(t *testing.T) {
	canonical := types.UID("7a7c0d84-1c2f-4f5e-9f9c-0d6f0c0ffee0")
	if got := compact(canonical).text(); got != canonical {
		t.Errorf("got %s", got)
	}
	seen := map[uid]types.UID{}
	for _, text := range []types.UID{canonical, "7A7C0D84-1C2F-4F5E-9F9C-0D6F0C0FFEE0", "{7a7c0d84-1c2f-4f5e-9f9c-0d6f0c0ffee0}", "nonsense", ""} {
		c := compact(text)
		if other, ok := seen[c]; ok {
			t.Errorf("%q and %q are the same", text, other)
		}
		seen[c] = text
		if compact(c.text()) != c {
			t.Errorf("%q does not come back", text)
		}
	}
}

// TestMemory holds what a dependent costs beside its stored object.
func TestMemory(t *testing.T) {
	const dependents, bound = 100_000, 320
	objects := make([]*core.ConfigMap, dependents)
	g := newTold()
	for n := range objects {
		owner := fmt.Sprintf("owner-%d", n/10)
		obj := g.object("x", of(owner))
		obj.Name, obj.UID = fmt.Sprintf("dependent-%d", n), types.UID(uuid.NewString())
		objects[n] = obj
	}
	before := heap.InUse()
	for _, obj := range objects {
		g.Changed(configMaps, obj)
		g.looked = nil
	}
	each := int(heap.InUse()-before) / dependents
	t.Logf("%d bytes for each of %d dependents, ten of each owner", each, dependents)
	if each > bound {
		t.Errorf("%d bytes for each dependent, want at most %d", each, bound)
	}
	runtime.KeepAlive(objects)
	runtime.KeepAlive(g)
}
