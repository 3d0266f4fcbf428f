package servertest

import (
	"context"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/forkless/kcp/internal/servertest/address"
	"github.com/forkless/kcp/internal/storage"
)

const etcdTimeout = time.Minute

// Etcd is an etcd that listens on a socket, so that a test can see what is stored.
type Etcd struct {
	// Server is its value for the flag --etcd-servers.
	Server string

	client *clientv3.Client
}

// StartEtcd runs an etcd until the test ends, for servers that use it from outside.
func StartEtcd(t testing.TB) *Etcd {
	t.Helper()
	return OpenEtcd(t, filepath.Join(t.TempDir(), "etcd"))
}

// OpenEtcd is StartEtcd with the data of a server that has been stopped: the folder
// etcd-server in its root directory.
func OpenEtcd(t testing.TB, directory string) *Etcd {
	t.Helper()
	serving := address.Free(t)
	ctx, cancel := context.WithTimeout(context.Background(), etcdTimeout)
	defer cancel()
	layer, err := storage.StartEmbedded(ctx, storage.EmbeddedOptions{Directory: directory, ClientURL: &url.URL{Scheme: "http", Host: serving}})
	if err != nil {
		t.Fatalf("starting etcd: %v", err)
	}
	t.Cleanup(layer.Close)
	server := "http://" + serving
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{server}, Logger: zap.NewNop()})
	if err != nil {
		t.Fatalf("connecting to etcd: %v", err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return &Etcd{Server: server, client: client}
}

// Keys returns the keys that contain text, in order.
func (e *Etcd) Keys(text string) ([]string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), etcdTimeout)
	defer cancel()
	response, err := e.client.Get(ctx, "", clientv3.WithPrefix(), clientv3.WithKeysOnly())
	if err != nil {
		return nil, err
	}
	var keys []string
	for _, kv := range response.Kvs {
		if key := string(kv.Key); strings.Contains(key, text) {
			keys = append(keys, key)
		}
	}
	return keys, nil
}

// Values returns what is stored under the keys that contain text, in order of the keys.
func (e *Etcd) Values(t testing.TB, text string) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), etcdTimeout)
	defer cancel()
	response, err := e.client.Get(ctx, "", clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	var values []string
	for _, kv := range response.Kvs {
		if strings.Contains(string(kv.Key), text) {
			values = append(values, string(kv.Value))
		}
	}
	return values
}

// Value returns what is stored under the only key that ends with suffix.
func (e *Etcd) Value(t testing.TB, suffix string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), etcdTimeout)
	defer cancel()
	response, err := e.client.Get(ctx, "", clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	var values []string
	for _, kv := range response.Kvs {
		if strings.HasSuffix(string(kv.Key), suffix) {
			values = append(values, string(kv.Value))
		}
	}
	if len(values) != 1 {
		t.Fatalf("%d keys end with %s", len(values), suffix)
	}
	return values[0]
}

// Expires says whether what is stored under the only key that ends with suffix will go by
// itself.
func (e *Etcd) Expires(t testing.TB, suffix string) bool {
	t.Helper()
	keys, err := e.Keys(suffix)
	if err != nil {
		t.Fatal(err)
	}
	if len(keys) != 1 || !strings.HasSuffix(keys[0], suffix) {
		t.Fatalf("keys %v end with %s", keys, suffix)
	}
	ctx, cancel := context.WithTimeout(t.Context(), etcdTimeout)
	defer cancel()
	response, err := e.client.Get(ctx, keys[0])
	if err != nil {
		t.Fatal(err)
	}
	return len(response.Kvs) == 1 && response.Kvs[0].Lease != 0
}

// Compact drops all revisions before the present one.
func (e *Etcd) Compact(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), etcdTimeout)
	defer cancel()
	response, err := e.client.Get(ctx, "nothing")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.client.Compact(ctx, response.Header.Revision, clientv3.WithCompactPhysical()); err != nil {
		t.Fatalf("compacting etcd: %v", err)
	}
}
