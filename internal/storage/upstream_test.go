package storage_test

import (
	"net/url"
	"testing"
	"time"

	apistorage "k8s.io/apiserver/pkg/storage"

	"github.com/forkless/kcp/internal/servertest/address"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/storage/storagetest"
)

func TestUpstreamSuiteOnEmbeddedEtcd(t *testing.T) {
	storagetest.Run(t, func(t *testing.T) apistorage.Interface {
		layer, err := storage.StartEmbedded(t.Context(), storage.EmbeddedOptions{Directory: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		return openPods(t, layer)
	})
}

func TestUpstreamSuiteOnExternalEtcd(t *testing.T) {
	storagetest.Run(t, func(t *testing.T) apistorage.Interface { return openPods(t, dial(t)) })
}

// dial returns a layer on an etcd that listens on a socket.
func dial(t *testing.T) *storage.Layer {
	t.Helper()
	serving := address.Free(t)
	server, err := storage.StartEmbedded(t.Context(), storage.EmbeddedOptions{
		Directory: t.TempDir(),
		ClientURL: &url.URL{Scheme: "http", Host: serving},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	layer, err := storage.Dial(t.Context(), storage.ExternalOptions{Servers: []string{"http://" + serving}})
	if err != nil {
		t.Fatal(err)
	}
	return layer
}

func openPods(t *testing.T, layer *storage.Layer) apistorage.Interface {
	t.Helper()
	t.Cleanup(layer.Close)
	store, err := layer.Open(storagetest.Pods, storagetest.Kind())
	if err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(time.Minute)
	for tick := time.NewTicker(5 * time.Millisecond); layer.Ready() != nil; <-tick.C {
		if time.Now().After(deadline) {
			t.Fatal(layer.Ready())
		}
	}
	return store
}
