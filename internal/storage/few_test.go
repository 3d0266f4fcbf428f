package storage

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiserver/pkg/storage"

	"github.com/forkless/kcp/internal/servertest/address"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// silent is an etcd that never says how far it is.
type silent struct{ clientv3.Watcher }

// RequestProgress fails.
func (silent) RequestProgress(context.Context) error { return errors.New("not now") }

// TestListsDoNotWaitForProgress: where others write to etcd too, a list of one cluster sees
// all that was written before, and needs no word of etcd's that the watch cache is there.
func TestListsDoNotWaitForProgress(t *testing.T) {
	serving := address.Free(t)
	server, err := StartEmbedded(t.Context(), EmbeddedOptions{Directory: t.TempDir(), ClientURL: &url.URL{Scheme: "http", Host: serving}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	layer, err := Dial(t.Context(), ExternalOptions{Servers: []string{"http://" + serving}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(layer.Close)
	layer.client.Watcher = silent{layer.client.Watcher}
	store, err := layer.Open(configMaps, configMapKind(t))
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the watch cache is ready", func() bool { return layer.Ready() == nil })

	// Upstream gives up after three seconds, and 20 lists are to take less in all.
	const lists, patience = 20, 30 * time.Second
	began := time.Now()
	for i := range lists {
		create(t, store, one, fmt.Sprint(i))
		// Now etcd is where the watch cache is not, and the cache has nothing to hear.
		if _, err := layer.client.KV.Put(t.Context(), "/of-somebody-else", fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
		for cluster, want := range map[logicalcluster.Name]int{one: i + 1, two: 0} {
			got := &corev1.ConfigMapList{}
			options := storage.ListOptions{Recursive: true, Predicate: storage.Everything}
			if err := store.GetList(logicalcluster.NewContext(t.Context(), cluster), configMaps.Prefix(), options, got); err != nil {
				t.Fatal(err)
			}
			if len(got.Items) != want {
				t.Errorf("%d objects in cluster %s, want %d", len(got.Items), cluster, want)
			}
		}
	}
	if took := time.Since(began); took > patience {
		t.Errorf("%d lists took %s: they wait for progress", 2*lists, took)
	}
}
