package storage

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiserver/pkg/storage"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// TestSameNameInManyClustersAfterRestart: a watch cache that is filled from what is in
// etcd has to tell objects apart that differ in their cluster only.
func TestSameNameInManyClustersAfterRestart(t *testing.T) {
	directory := t.TempDir()
	start := func() (*Layer, storage.Interface) {
		layer, err := StartEmbedded(t.Context(), EmbeddedOptions{Directory: directory})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(layer.Close)
		store, err := layer.Open(configMaps, configMapKind(t))
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, "the watch cache is ready", func() bool { return layer.Ready() == nil })
		return layer, store
	}
	layer, store := start()
	create(t, store, one, "same")
	create(t, store, two, "same")
	layer.Close()

	_, store = start()
	for _, cluster := range []logicalcluster.Name{one, two} {
		got := &corev1.ConfigMap{}
		ctx := logicalcluster.NewContext(t.Context(), cluster)
		if err := store.Get(ctx, "/core/configmaps/default/same", storage.GetOptions{ResourceVersion: "0"}, got); err != nil {
			t.Errorf("getting the object of %s from the watch cache: %v", cluster, err)
		}
	}
	names, _ := list(t, store, logicalcluster.Wildcard, storage.ListOptions{})
	if diff := cmp.Diff([]string{"one/same", "two/same"}, names); diff != "" {
		t.Errorf("listing all clusters (-want +got):\n%s", diff)
	}
}

// TestListAfterEmptyPurge: consistent lists wait for the last write to their resource,
// and a purge that found nothing is none.
func TestListAfterEmptyPurge(t *testing.T) {
	layer, _ := openConfigMaps(t)
	s, _ := layer.lookUp(configMaps)
	before := s.freshness()
	batch := layer.NewBatch()
	batch.Purge(one, configMaps)
	if err := batch.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if after := s.freshness(); after != before {
		t.Errorf("lists wait for version %d after a purge of nothing, and for %d before: no event will bring them there", after, before)
	}
}

// TestListAgainAfterWrites: once the watch cache is known to have been somewhere, lists still
// see every write that is later than that.
func TestListAgainAfterWrites(t *testing.T) {
	_, store := openConfigMaps(t)
	var want []string
	for i := range 50 {
		name := fmt.Sprintf("a%02d", i)
		create(t, store, one, name)
		want = append(want, "one/"+name)
		for range 2 {
			if got, _ := list(t, store, one, storage.ListOptions{}); !cmp.Equal(want, got) {
				t.Fatalf("after %s was created, a list has %v", name, got)
			}
		}
	}
}
