package storage

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/storage"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// limitTo makes a layer hold every cluster to a number of objects.
func limitTo(layer *Layer, limit int64) {
	layer.LimitObjects(func(context.Context, logicalcluster.Name, schema.GroupResource, string) (int64, bool, error) {
		return limit, true, nil
	})
	layer.CountObjects()
}

func countIn(t *testing.T, layer *Layer, cluster logicalcluster.Name) int64 {
	t.Helper()
	count, counted, err := layer.ObjectCount(t.Context(), cluster)
	if err != nil || !counted {
		t.Fatalf("counting the objects of %s: counted %t, error %v", cluster, counted, err)
	}
	return count
}

// recount looks at the keys of etcd, which is the truth.
func recount(t *testing.T, layer *Layer, cluster logicalcluster.Name) int64 {
	t.Helper()
	seen, _, err := layer.counter.see(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return int64(seen[cluster].stored)
}

func remove(t *testing.T, store storage.Interface, cluster logicalcluster.Name, name string) {
	t.Helper()
	err := store.Delete(logicalcluster.NewContext(t.Context(), cluster), "/core/configmaps/default/"+name, &corev1.ConfigMap{}, nil,
		storage.ValidateAllObjectFunc, nil, storage.DeleteOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

func TestEveryWriteIsCounted(t *testing.T) {
	layer, store := openConfigMaps(t)
	events := Resource{GroupResource: schema.GroupResource{Resource: "events"}}
	if _, err := layer.Open(events, configMapKind(t)); err != nil {
		t.Fatal(err)
	}
	if _, counted, _ := layer.ObjectCount(t.Context(), one); counted {
		t.Error("nobody has asked for it, but objects are counted")
	}
	create(t, store, one, "before")
	layer.CountObjects()
	ctx := logicalcluster.NewContext(t.Context(), one)
	update := func(name string, ignoreNotFound bool) error {
		return store.GuaranteedUpdate(ctx, "/core/configmaps/default/"+name, &corev1.ConfigMap{}, ignoreNotFound, nil,
			func(input runtime.Object, _ storage.ResponseMeta) (runtime.Object, *uint64, error) {
				obj := input.(*corev1.ConfigMap).DeepCopy()
				obj.Namespace, obj.Name, obj.Data = "default", name, map[string]string{"changed": "yes"}
				return obj, nil, nil
			}, nil)
	}
	batch := func(fill func(*Batch)) error {
		b := layer.NewBatch()
		fill(b)
		return b.Commit(t.Context())
	}
	var inBatch *corev1.ConfigMap
	for _, step := range []struct {
		what string
		do   func() error
		want int64
	}{
		{"what was there", func() error { return nil }, 1},
		{"a create", func() error { create(t, store, one, "a"); return nil }, 2},
		{"an update", func() error { return update("a", false) }, 2},
		{"an update that creates", func() error { return update("b", true) }, 3},
		{"a create in another cluster", func() error { create(t, store, two, "a"); return nil }, 3},
		{"a create of what is there", func() error {
			err := store.Create(ctx, "/core/configmaps/default/a", configMap("a"), &corev1.ConfigMap{}, 0)
			if !storage.IsExist(err) {
				return fmt.Errorf("got error %w, want that it exists", err)
			}
			return nil
		}, 3},
		{"a delete", func() error { remove(t, store, one, "b"); return nil }, 2},
		{"a batch", func() error {
			return batch(func(b *Batch) {
				b.Create(configMaps, one, configMap("c"))
				b.Create(configMaps, one, configMap("d"))
				b.Create(configMaps, two, configMap("d"))
				b.Create(events, one, configMap("e"))
			})
		}, 4},
		{"a batch that fails", func() error {
			err := batch(func(b *Batch) {
				b.Create(configMaps, one, configMap("c"))
				b.Create(configMaps, one, configMap("x"))
			})
			if !errors.Is(err, ErrBatchConflict) {
				return fmt.Errorf("got error %w, want a conflict", err)
			}
			return nil
		}, 4},
		{"an update and a delete in a batch", func() error {
			inBatch = &corev1.ConfigMap{}
			if err := store.Get(ctx, "/core/configmaps/default/c", storage.GetOptions{}, inBatch); err != nil {
				return err
			}
			d := &corev1.ConfigMap{}
			if err := store.Get(ctx, "/core/configmaps/default/d", storage.GetOptions{}, d); err != nil {
				return err
			}
			return batch(func(b *Batch) {
				b.Update(configMaps, one, inBatch)
				b.Delete(configMaps, one, d)
			})
		}, 3},
		{"a purge", func() error { return batch(func(b *Batch) { b.Purge(one, configMaps, events) }) }, 0},
	} {
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v", step.what, err)
		}
		if got := countIn(t, layer, one); got != step.want {
			t.Errorf("after %s: counted %d, want %d", step.what, got, step.want)
		}
		if got := recount(t, layer, one); got != step.want {
			t.Errorf("after %s: %d are stored, want %d", step.what, got, step.want)
		}
	}
	if _, ok := layer.counter.clusters[one]; ok {
		t.Error("something is kept of a cluster that has no objects any more")
	}
	if got := countIn(t, layer, two); got != 2 {
		t.Errorf("the other cluster: counted %d, want 2", got)
	}
}

func TestNoMoreThanTheLimit(t *testing.T) {
	layer, store := openConfigMaps(t)
	const limit, clients = 20, 50
	limitTo(layer, limit)
	var created atomic.Int64
	var wait sync.WaitGroup
	put := func(name string) error {
		ctx := logicalcluster.NewContext(t.Context(), one)
		return store.Create(ctx, "/core/configmaps/default/"+name, configMap(name), &corev1.ConfigMap{}, 0)
	}
	for i := range clients {
		wait.Go(func() {
			switch err := put(fmt.Sprint("c", i)); {
			case err == nil:
				created.Add(1)
			case !apierrors.IsForbidden(err):
				t.Errorf("got error %v, want Forbidden", err)
			}
		})
	}
	wait.Wait()
	if created.Load() != limit || recount(t, layer, one) != limit {
		t.Errorf("%d were created, %d are stored, want %d", created.Load(), recount(t, layer, one), limit)
	}
	want := `configmaps "more" is forbidden: logical cluster "one" has reached its total object count limit (20/20 objects); delete objects to free up capacity`
	if err := put("more"); err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
	create(t, store, two, "elsewhere")

	names, _ := list(t, store, one, storage.ListOptions{})
	for _, name := range names[:3] {
		remove(t, store, one, name[len("one/"):])
	}
	for i := range clients {
		wait.Go(func() { _ = put(fmt.Sprint("again", i)) })
	}
	wait.Wait()
	if got := recount(t, layer, one); got != limit {
		t.Errorf("%d are stored after three were removed and many wanted their place, want %d", got, limit)
	}
	batch := layer.NewBatch()
	batch.Create(configMaps, one, configMap("ours"))
	if err := batch.Commit(t.Context()); err != nil {
		t.Errorf("what the server writes itself is not held to it: %v", err)
	}
}

// TestCountingWhileOthersWrite: what is written while the keys are looked at is neither
// lost nor counted twice, however often they are.
func TestCountingWhileOthersWrite(t *testing.T) {
	layer, store := openConfigMaps(t)
	limitTo(layer, 1<<30)
	ctx, cancel := context.WithCancel(t.Context())
	var looking, writing sync.WaitGroup
	looking.Go(func() {
		for ctx.Err() == nil {
			layer.counter.mu.Lock()
			layer.counter.look()
			layer.counter.mu.Unlock()
		}
	})
	for i := range 8 {
		writing.Go(func() {
			for j := range 60 {
				name := fmt.Sprintf("c%d-%d", i, j)
				create(t, store, one, name)
				if j%3 == 0 {
					remove(t, store, one, name)
				}
			}
		})
	}
	writing.Wait()
	cancel()
	looking.Wait()
	eventually(t, "nobody looks any more", func() bool {
		layer.counter.mu.Lock()
		defer layer.counter.mu.Unlock()
		return !layer.counter.looking
	})
	if got, want := countIn(t, layer, one), recount(t, layer, one); got != want || want != 8*40 {
		t.Errorf("counted %d, %d are stored, want %d", got, want, 8*40)
	}
}

// TestWriteOfUnknownOutcome: a client that goes away in the middle of a write leaves a
// count that is off by one, until everything is looked at again.
func TestWriteOfUnknownOutcome(t *testing.T) {
	layer, store := openConfigMaps(t)
	layer.CountObjects()
	create(t, store, one, "a")
	countIn(t, layer, one)
	ctx, cancel := context.WithCancel(logicalcluster.NewContext(t.Context(), one))
	cancel()
	if err := store.Create(ctx, "/core/configmaps/default/b", configMap("b"), &corev1.ConfigMap{}, 0); err == nil {
		t.Fatal("created though the client was gone")
	}
	layer.counter.mu.Lock()
	defer layer.counter.mu.Unlock()
	if !layer.counter.doubted {
		t.Error("nobody doubts that the object was not created")
	}
}

// TestOutcomesAreTold: whoever has to know what became of a create is told before the
// creator is.
func TestOutcomesAreTold(t *testing.T) {
	layer, store := openConfigMaps(t)
	var told []string
	layer.ObserveCreates(func(cluster logicalcluster.Name, resource schema.GroupResource, object ObjectName, revision int64) {
		told = append(told, fmt.Sprintf("%s %s %s/%s %t", cluster, resource, object.Namespace, object.Name, revision > 0))
	})
	a := create(t, store, one, "a")
	ctx := logicalcluster.NewContext(t.Context(), one)
	if err := store.Create(ctx, "/core/configmaps/default/a", configMap("a"), &corev1.ConfigMap{}, 0); !storage.IsExist(err) {
		t.Errorf("got error %v, want that it exists", err)
	}
	remove(t, store, one, "a")
	layer.LimitObjects(func(_ context.Context, _ logicalcluster.Name, _ schema.GroupResource, name string) (int64, bool, error) {
		return 0, name == "b", nil
	})
	layer.CountObjects()
	if err := store.Create(ctx, "/core/configmaps/default/b", configMap("b"), &corev1.ConfigMap{}, 0); !apierrors.IsForbidden(err) {
		t.Errorf("got error %v, want Forbidden", err)
	}
	want := []string{"one configmaps default/a true", "one configmaps default/a false", "one configmaps default/b false"}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	count, found, revision, err := layer.Stored(t.Context(), one, "default", []Resource{configMaps},
		[]ObjectName{{"default", "a"}, {"default", "c"}})
	if err != nil || count != 0 || found[0] || found[1] || fmt.Sprint(revision) <= a.ResourceVersion {
		t.Errorf("got count %d, found %v at %d, error %v", count, found, revision, err)
	}
	create(t, store, one, "c")
	create(t, store, two, "a")
	other := Resource{GroupResource: configMaps.GroupResource, Identity: CustomResources}
	count, found, _, err = layer.Stored(t.Context(), one, "", []Resource{other, configMaps},
		[]ObjectName{{"default", "a"}, {"default", "c"}})
	if err != nil || count != 1 || found[0] || !found[1] {
		t.Errorf("got count %d, found %v, error %v", count, found, err)
	}
	if _, _, _, err := layer.Stored(t.Context(), logicalcluster.Wildcard, "", []Resource{configMaps}, nil); err == nil {
		t.Error("objects of all clusters are counted together")
	}
}

func TestLocate(t *testing.T) {
	identity := "3b1c9ad0d7e0e3a1cf1b1b2ef1a8f8a6f4a2b1f0c7d8e9f0a1b2c3d4e5f60718"
	for key, want := range map[string]string{
		"/registry/core/configmaps/one/default/a":                      "configmaps one default/a",
		"/registry/core/namespaces/root/default":                       "namespaces root /default",
		"/registry/apps/deployments/system:admin/ns/a":                 "deployments.apps system:admin ns/a",
		"/registry/example.com/widgets/customresources/one/ns/a":       "widgets.example.com one ns/a",
		"/registry/example.com/widgets/" + identity + "/one/name":      "widgets.example.com one /name",
		"/registry/core/configmaps/one":                                "",
		"/registry/example.com/widgets/customresources/nothing-behind": "",
		"/elsewhere/core/configmaps/one/default/a":                     "",
		"compact_rev_key": "",
	} {
		got := ""
		if at, ok := locate("/registry", key); ok {
			got = at.resource.GroupResource.String() + " " + at.cluster + " " + at.object.Namespace + "/" + at.object.Name
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", key, got, want)
		}
	}
}

// BenchmarkLook is what counting costs at the start: 15,000 keys are about 1,000
// workspaces.
func BenchmarkLook(b *testing.B) {
	layer, err := StartEmbedded(b.Context(), EmbeddedOptions{Directory: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(layer.Close)
	const clusters, each = 1000, 15
	value := string(make([]byte, 700))
	for i := range clusters {
		var puts []clientv3.Op
		for j := range each {
			puts = append(puts, clientv3.OpPut(fmt.Sprintf("/registry/core/configmaps/cluster-%06d/default/%d", i, j), value))
		}
		if _, err := layer.client.KV.Txn(b.Context()).Then(puts...).Commit(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		seen, _, err := layer.counter.see(b.Context())
		if err != nil || len(seen) != clusters {
			b.Fatal(len(seen), err)
		}
	}
}
