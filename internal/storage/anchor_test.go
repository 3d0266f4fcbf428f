package storage

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/storage"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// TestNothingIsCreatedWithoutAnAnchor: a request that is let in just before its workspace
// goes must not leave behind a key that nobody would ever remove.
func TestNothingIsCreatedWithoutAnAnchor(t *testing.T) {
	layer, err := StartEmbedded(t.Context(), EmbeddedOptions{
		Settings:  Settings{Anchor: &Anchor{Resource: configMaps, Name: "anchor"}},
		Directory: t.TempDir(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(layer.Close)
	store, err := layer.Open(configMaps, configMapKind(t))
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the watch cache is ready", func() bool { return layer.Ready() == nil })
	put := func(cluster logicalcluster.Name, namespace, name string) error {
		obj := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
		return store.Create(logicalcluster.NewContext(t.Context(), cluster), "/core/configmaps/"+namespace+"/"+name, obj, &corev1.ConfigMap{}, 0)
	}
	anchor := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "anchor"}}

	if err := put(one, "default", "early"); !apierrors.IsForbidden(err) {
		t.Errorf("creating without an anchor: got error %v, want Forbidden", err)
	}
	if err := put(logicalcluster.SystemAdmin, "default", "system"); err != nil {
		t.Errorf("clusters of the system need no anchor: %v", err)
	}
	ctx := logicalcluster.NewContext(t.Context(), one)
	if err := store.Create(ctx, "/core/configmaps/anchor", anchor, &corev1.ConfigMap{}, 0); err != nil {
		t.Fatalf("creating the anchor itself: %v", err)
	}
	if err := put(one, "default", "in-time"); err != nil {
		t.Errorf("creating beside the anchor: %v", err)
	}
	if err := put(one, "default", "in-time"); !storage.IsExist(err) {
		t.Errorf("creating what is there: got error %v, want that it exists", err)
	}
	if err := put(two, "default", "other"); !apierrors.IsForbidden(err) {
		t.Errorf("the anchor of another cluster: got error %v, want Forbidden", err)
	}

	batch := layer.NewBatch()
	batch.Purge(one, configMaps)
	if err := batch.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := put(one, "default", "late"); !apierrors.IsForbidden(err) {
		t.Errorf("creating in what has gone: got error %v, want Forbidden", err)
	}
	// A purge does not know what it removes, so nobody waits for the watch cache.
	eventually(t, "nothing is left behind", func() bool {
		names, _ := list(t, store, one, storage.ListOptions{})
		return len(names) == 0
	})
}
