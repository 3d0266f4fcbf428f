package storage

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// TestCloseWhileEventsArrive: a store is closed when its watch cache has just been filled,
// and has more events to take in than it has room for.
func TestCloseWhileEventsArrive(t *testing.T) {
	const rounds, events = 30, 250
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	layer, store := openConfigMaps(t)
	create(t, store, one, "first")
	stored, err := layer.client.Client.Get(ctx, layer.prefix, clientv3.WithPrefix())
	if err != nil || len(stored.Kvs) != 1 {
		t.Fatalf("%v, %d keys", err, len(stored.Kvs))
	}
	first := stored.Kvs[0]
	copies := make([]clientv3.Op, events)
	for i := range copies {
		copies[i] = clientv3.OpPut(fmt.Sprintf("%s-%d", first.Key, i), string(first.Value))
	}
	others := layer.client.Watch(ctx, string(first.Key), clientv3.WithPrefix())
	layer.CloseResource(configMaps)
	for round := range rounds {
		if _, err := layer.Open(configMaps, configMapKind(t)); err != nil {
			t.Fatal(err)
		}
		for layer.Ready() != nil && ctx.Err() == nil {
			runtime.Gosched()
		}
		if _, err := layer.client.Txn(ctx).Then(copies...).Commit(); err != nil {
			t.Fatal(err)
		}
		hear(ctx, t, others)
		closed := make(chan struct{})
		go func() {
			defer close(closed)
			layer.CloseResource(configMaps)
		}()
		select {
		case <-closed:
		case <-ctx.Done():
			t.Fatalf("round %d: the store does not close", round)
		}
	}
}
