package storage

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

var (
	configMaps = Resource{GroupResource: schema.GroupResource{Resource: "configmaps"}}
	one        = logicalcluster.MustParseName("one")
	two        = logicalcluster.MustParseName("two")
)

func startLayer(t *testing.T) *Layer {
	t.Helper()
	layer, err := StartEmbedded(t.Context(), EmbeddedOptions{Directory: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(layer.Close)
	return layer
}

func configMapKind(t *testing.T) Kind {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	codecs := serializer.NewCodecFactory(scheme)
	info, _ := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), runtime.ContentTypeJSON)
	return Kind{
		New:     func() runtime.Object { return &corev1.ConfigMap{} },
		NewList: func() runtime.Object { return &corev1.ConfigMapList{} },
		Codec:   codecs.CodecForVersions(info.Serializer, info.Serializer, corev1.SchemeGroupVersion, corev1.SchemeGroupVersion),
	}
}

func openConfigMaps(t *testing.T) (*Layer, storage.Interface) {
	t.Helper()
	layer := startLayer(t)
	store, err := layer.Open(configMaps, configMapKind(t))
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the watch cache is ready", func() bool { return layer.Ready() == nil })
	return layer, store
}

func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for tick := time.NewTicker(5 * time.Millisecond); !done(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("timed out before %s", what)
		}
	}
}

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
}

func create(t *testing.T, store storage.Interface, cluster logicalcluster.Name, name string) *corev1.ConfigMap {
	t.Helper()
	out := &corev1.ConfigMap{}
	ctx := logicalcluster.NewContext(t.Context(), cluster)
	if err := store.Create(ctx, "/core/configmaps/default/"+name, configMap(name), out, 0); err != nil {
		t.Fatal(err)
	}
	return out
}

func list(t *testing.T, store storage.Interface, cluster logicalcluster.Name, opts storage.ListOptions) ([]string, *corev1.ConfigMapList) {
	t.Helper()
	opts.Recursive = true
	if opts.Predicate.Label == nil {
		limit, token := opts.Predicate.Limit, opts.Predicate.Continue
		opts.Predicate = storage.Everything
		opts.Predicate.Limit, opts.Predicate.Continue = limit, token
	}
	got := &corev1.ConfigMapList{}
	if err := store.GetList(logicalcluster.NewContext(t.Context(), cluster), "/core/configmaps", opts, got); err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, item := range got.Items {
		names = append(names, item.Annotations[logicalcluster.AnnotationKey]+"/"+item.Name)
	}
	return names, got
}

func TestClustersAreIsolated(t *testing.T) {
	_, store := openConfigMaps(t)
	create(t, store, one, "a")
	create(t, store, two, "a")
	create(t, store, two, "b")

	for cluster, want := range map[logicalcluster.Name][]string{
		one:                     {"one/a"},
		two:                     {"two/a", "two/b"},
		logicalcluster.Wildcard: {"one/a", "two/a", "two/b"},
	} {
		if got, _ := list(t, store, cluster, storage.ListOptions{}); !cmp.Equal(want, got) {
			t.Errorf("list in %s (a list reads its own writes and nobody else's): %s", cluster, cmp.Diff(want, got))
		}
	}

	ctx := logicalcluster.NewContext(t.Context(), one)
	if err := store.Get(ctx, "/core/configmaps/default/b", storage.GetOptions{}, &corev1.ConfigMap{}); !storage.IsNotFound(err) {
		t.Errorf("get of another cluster's object: %v, want not found", err)
	}
}

func TestNoClusterIsAnError(t *testing.T) {
	_, store := openConfigMaps(t)
	ctx, key := t.Context(), "/core/configmaps/default/a"
	wildcard := logicalcluster.NewContext(ctx, logicalcluster.Wildcard)
	update := func(in runtime.Object, _ storage.ResponseMeta) (runtime.Object, *uint64, error) { return in, nil, nil }
	for name, call := range map[string]func(context.Context) error{
		"Get":    func(ctx context.Context) error { return store.Get(ctx, key, storage.GetOptions{}, &corev1.ConfigMap{}) },
		"Create": func(ctx context.Context) error { return store.Create(ctx, key, configMap("a"), &corev1.ConfigMap{}, 0) },
		"Delete": func(ctx context.Context) error {
			return store.Delete(ctx, key, &corev1.ConfigMap{}, nil, storage.ValidateAllObjectFunc, nil, storage.DeleteOptions{})
		},
		"GuaranteedUpdate": func(ctx context.Context) error {
			return store.GuaranteedUpdate(ctx, key, &corev1.ConfigMap{}, true, nil, update, nil)
		},
	} {
		if err := call(ctx); !errors.Is(err, logicalcluster.ErrNoCluster) {
			t.Errorf("%s without a cluster: %v", name, err)
		}
		if err := call(wildcard); err == nil {
			t.Errorf("%s of one object through the wildcard succeeded", name)
		}
	}
	if err := store.GetList(ctx, "/core/configmaps", storage.ListOptions{}, &corev1.ConfigMapList{}); !errors.Is(err, logicalcluster.ErrNoCluster) {
		t.Errorf("GetList without a cluster: %v", err)
	}
	if _, err := store.Watch(ctx, "/core/configmaps", storage.ListOptions{}); !errors.Is(err, logicalcluster.ErrNoCluster) {
		t.Errorf("Watch without a cluster: %v", err)
	}
}

func TestClusterAnnotationIsTheServers(t *testing.T) {
	_, store := openConfigMaps(t)
	ctx := logicalcluster.NewContext(t.Context(), one)
	sent, out := configMap("a"), &corev1.ConfigMap{}
	sent.Annotations = map[string]string{logicalcluster.AnnotationKey: "two", "kept": "yes"}
	if err := store.Create(ctx, "/core/configmaps/default/a", sent, out, 0); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{logicalcluster.AnnotationKey: "one", "kept": "yes"}
	if diff := cmp.Diff(want, out.Annotations); diff != "" {
		t.Errorf("created: %s", diff)
	}
	out = &corev1.ConfigMap{}
	err := store.GuaranteedUpdate(ctx, "/core/configmaps/default/a", out, false, nil,
		func(in runtime.Object, _ storage.ResponseMeta) (runtime.Object, *uint64, error) {
			in.(*corev1.ConfigMap).Annotations = map[string]string{logicalcluster.AnnotationKey: "two"}
			return in, nil, nil
		}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{logicalcluster.AnnotationKey: "one"}, out.Annotations); diff != "" {
		t.Errorf("updated: %s", diff)
	}
}

func TestWatchesSeeTheirClusterOnly(t *testing.T) {
	_, store := openConfigMaps(t)
	watchOf := func(cluster logicalcluster.Name) watch.Interface {
		w, err := store.Watch(logicalcluster.NewContext(t.Context(), cluster), "/core/configmaps",
			storage.ListOptions{ResourceVersion: "0", Recursive: true, Predicate: storage.Everything})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(w.Stop)
		return w
	}
	ofOne, ofAll := watchOf(one), watchOf(logicalcluster.Wildcard)
	create(t, store, two, "first")
	create(t, store, one, "second")
	if got := nextName(t, ofOne); got != "second" {
		t.Errorf("a watch of one saw %q first", got)
	}
	if got := nextName(t, ofAll); got != "first" {
		t.Errorf("a wildcard watch saw %q first", got)
	}
}

func nextName(t *testing.T, w watch.Interface) string {
	t.Helper()
	select {
	case event := <-w.ResultChan():
		return event.Object.(metav1.Object).GetName()
	case <-time.After(time.Minute):
		t.Fatal("no event")
		return ""
	}
}

func TestContinueTokensStayInTheirCluster(t *testing.T) {
	_, store := openConfigMaps(t)
	for _, name := range []string{"a", "b", "c"} {
		create(t, store, one, name)
		create(t, store, two, name+"2")
	}
	page := storage.ListOptions{}
	page.Predicate.Limit = 1
	_, first := list(t, store, one, page)
	if first.Continue == "" {
		t.Fatal("no continue token")
	}
	page.Predicate.Limit, page.Predicate.Continue = 0, first.Continue
	if got, _ := list(t, store, one, page); !cmp.Equal([]string{"one/b", "one/c"}, got) {
		t.Errorf("rest of the list: %v", got)
	}
	got, _ := list(t, store, two, page)
	for _, name := range got {
		if name[:3] != "two" {
			t.Errorf("a token of cluster one shows %s in cluster two", name)
		}
	}
}

func TestBatchIsAllOrNothing(t *testing.T) {
	layer, store := openConfigMaps(t)
	stored := create(t, store, one, "there")

	conflict := layer.NewBatch()
	conflict.Create(configMaps, two, configMap("new"))
	conflict.Create(configMaps, one, configMap("there"))
	if err := conflict.Commit(t.Context()); !errors.Is(err, ErrBatchConflict) {
		t.Fatalf("batch with a conflict: %v", err)
	}
	if got, _ := list(t, store, logicalcluster.Wildcard, storage.ListOptions{}); !cmp.Equal([]string{"one/there"}, got) {
		t.Fatalf("after a conflict: %v", got)
	}

	batch := layer.NewBatch()
	stored.Data = map[string]string{"changed": "yes"}
	batch.Update(configMaps, one, stored)
	batch.Create(configMaps, two, configMap("new"))
	if err := batch.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, items := list(t, store, logicalcluster.Wildcard, storage.ListOptions{})
	if !cmp.Equal([]string{"one/there", "two/new"}, got) || items.Items[0].Data["changed"] != "yes" {
		t.Errorf("after a batch: %v %v", got, items.Items)
	}
	if items.Items[0].ResourceVersion != items.Items[1].ResourceVersion {
		t.Error("the objects of a batch have different resource versions")
	}

	stale := layer.NewBatch()
	stale.Update(configMaps, one, stored)
	if err := stale.Commit(t.Context()); !errors.Is(err, ErrBatchConflict) {
		t.Errorf("batch with a stale update: %v", err)
	}
}

// TestBatchIsListedAsAWhole: a list that has what a batch has changed has nothing of what the
// batch has removed. A watch cache takes in one after the other.
func TestBatchIsListedAsAWhole(t *testing.T) {
	const rounds, removed = 50, 50
	layer, store := openConfigMaps(t)
	changed := create(t, store, one, "changed")
	for round := range rounds {
		others := make([]*corev1.ConfigMap, removed)
		for i := range others {
			others[i] = create(t, store, one, fmt.Sprintf("removed-%d", i))
		}
		batch := layer.NewBatch()
		changed.Data = map[string]string{"round": strconv.Itoa(round)}
		batch.Update(configMaps, one, changed)
		for _, other := range others {
			batch.Delete(configMaps, one, other)
		}
		if err := batch.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		got, items := list(t, store, one, storage.ListOptions{})
		if !cmp.Equal([]string{"one/changed"}, got) || items.Items[0].ResourceVersion != batch.ResourceVersion() {
			t.Fatalf("round %d: %v at %s, want one object at %s", round, got, items.ResourceVersion, batch.ResourceVersion())
		}
		changed = &items.Items[0]
	}
}

func TestPurgeLeavesNothingOfOneCluster(t *testing.T) {
	layer, store := openConfigMaps(t)
	create(t, store, one, "a")
	create(t, store, two, "a")
	purge := layer.NewBatch()
	purge.Purge(one, layer.Opened()...)
	if err := purge.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, _ := list(t, store, logicalcluster.Wildcard, storage.ListOptions{}); !cmp.Equal([]string{"two/a"}, got) {
		t.Errorf("after purging one: %v", got)
	}
	response, err := layer.client.KV.Get(t.Context(), "/registry/core/configmaps/one/", clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil || response.Count != 0 {
		t.Errorf("%d keys left (%v)", response.Count, err)
	}
}

// TestReopenedStoreKnowsLateWrites: a write that began before its store was opened anew
// and is acknowledged afterwards is in every list that begins after that.
func TestReopenedStoreKnowsLateWrites(t *testing.T) {
	layer, before := openConfigMaps(t)
	layer.CloseResource(configMaps)
	after, err := layer.Open(configMaps, configMapKind(t))
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the watch cache is ready", func() bool { return after.ReadinessCheck() == nil })
	const late = 7
	before.(*store).wroteAt(late)
	if got := after.(*store).lastWrite.Load(); got != late {
		t.Errorf("lists wait for revision %d, want %d", got, late)
	}
}

// TestStoresDoNotOverlap: a workspace that defines a resource under the name of one of
// the system's must not get its objects into the store of that one, where they would
// stop everybody's watch cache.
func TestStoresDoNotOverlap(t *testing.T) {
	layer, _ := openConfigMaps(t)
	cases := map[string]struct {
		reason   string
		resource Resource
		refused  bool
	}{
		"Below":      {"keys of an identity lie below those without one", Resource{configMaps.GroupResource, CustomResources}, true},
		"CoreByName": {"the core group has a name in keys", Resource{schema.GroupResource{Group: "core", Resource: "configmaps"}, CustomResources}, true},
		"Longer":     {"a longer name is another resource", Resource{schema.GroupResource{Resource: "configmapsets"}, CustomResources}, false},
		"OtherGroup": {"as is the same name in another group", Resource{schema.GroupResource{Group: "example.com", Resource: "configmaps"}, CustomResources}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := layer.Open(tc.resource, configMapKind(t))
			if refused := err != nil; refused != tc.refused {
				t.Errorf("%s: opening %s: error %v, want one: %t", tc.reason, tc.resource.Prefix(), err, tc.refused)
			}
		})
	}
}

func TestRestartKeepsObjects(t *testing.T) {
	directory := t.TempDir()
	for start := range 2 {
		layer, err := StartEmbedded(t.Context(), EmbeddedOptions{Directory: directory})
		if err != nil {
			t.Fatal(err)
		}
		store, err := layer.Open(configMaps, configMapKind(t))
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, "the watch cache is ready", func() bool { return layer.Ready() == nil })
		if start == 0 {
			create(t, store, one, "kept")
		} else if got, _ := list(t, store, one, storage.ListOptions{}); !cmp.Equal([]string{"one/kept"}, got) {
			t.Errorf("after a restart: %v", got)
		}
		layer.Close()
	}
}
