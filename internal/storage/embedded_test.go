package storage

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/storage/wal"
	"go.uber.org/zap"
)

// TestWatchesThatEndTogether: when the watches of many stores end at the same time, while
// others are told of writes, those others go on. The embedded etcd and its client wait for
// each other if each finds no room for what it has to say.
func TestWatchesThatEndTogether(t *testing.T) {
	const rounds, watches = 20, 200
	client := startLayer(t).client
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	stays := client.Watch(ctx, "/stays")
	for round := range rounds {
		ending, end := context.WithCancel(ctx)
		for range watches {
			hear(ctx, t, client.Watch(ending, "/ends/", clientv3.WithPrefix(), clientv3.WithCreatedNotify()))
		}
		written := make(chan error, 1)
		go func() {
			_, err := client.Put(ctx, "/ends/one", "")
			written <- err
		}()
		end()
		if err := <-written; err != nil {
			t.Fatal(err)
		}
		if _, err := client.Put(ctx, "/stays", ""); err != nil {
			t.Fatal(err)
		}
		if response := hear(ctx, t, stays); len(response.Events) != 1 {
			t.Fatalf("round %d: want one event, got %+v", round, response)
		}
	}
}

// hear returns what a watch says next.
func hear(ctx context.Context, t *testing.T, watch clientv3.WatchChan) clientv3.WatchResponse {
	t.Helper()
	select {
	case response, ok := <-watch:
		if !ok || response.Err() != nil {
			t.Fatalf("the watch has ended: %v", response.Err())
		}
		return response
	case <-ctx.Done():
		t.Fatal("a watch hears nothing any more")
		return clientv3.WatchResponse{}
	}
}

// TestCloseWhileRead: an etcd ends while others read from it, and are told of what was there
// before it changed. They are refused from then on, and the process lives.
func TestCloseWhileRead(t *testing.T) {
	const rounds, writes = 10, 20
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	everything := clientv3.OpGet("/", clientv3.WithPrefix(), clientv3.WithSerializable())
	for range rounds {
		layer, err := StartEmbedded(ctx, EmbeddedOptions{Directory: t.TempDir(), Volatile: true})
		if err != nil {
			t.Fatal(err)
		}
		client := layer.client
		var readers sync.WaitGroup
		for _, read := range []func() error{
			func() error { _, err := client.Do(ctx, everything); return err },
			func() error { _, err := client.Txn(ctx).Then(everything).Commit(); return err },
		} {
			client.Watch(ctx, "/", clientv3.WithPrefix(), clientv3.WithPrevKV())
			readers.Go(func() {
				var err error
				for err == nil {
					err = read()
				}
				if !errors.Is(err, rpctypes.ErrStopped) {
					t.Error(err)
				}
			})
		}
		for write := range writes {
			if _, err := client.Put(ctx, "/key", strconv.Itoa(write)); err != nil {
				t.Error(err)
				break
			}
		}
		layer.Close()
		readers.Wait()
	}
}

// TestReplay: an etcd starts with a log that is longer than what it keeps of it in memory.
func TestReplay(t *testing.T) {
	const starts, writes = 8, 300
	directory := t.TempDir()
	for start := range starts {
		layer, err := StartEmbedded(t.Context(), EmbeddedOptions{Directory: directory, Volatile: true})
		if err != nil {
			t.Fatalf("start %d: %v", start, err)
		}
		for range writes {
			if _, err := layer.client.Put(t.Context(), "/key", "value"); err != nil {
				t.Error(err)
				break
			}
		}
		layer.Close()
	}
}

// TestInterruptedFirstStart: an etcd that was killed when it had made its log, and had
// nothing in it yet, starts as if it never had.
func TestInterruptedFirstStart(t *testing.T) {
	directory := t.TempDir()
	if err := os.MkdirAll(filepath.Join(directory, "member", "snap"), 0o700); err != nil {
		t.Fatal(err)
	}
	log, err := wal.Create(zap.NewNop(), filepath.Join(directory, "member", "wal"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	for kept, reason := range []string{"the first start is repeated", "what has come to pass stays"} {
		layer, err := StartEmbedded(t.Context(), EmbeddedOptions{Directory: directory})
		if err != nil {
			t.Fatalf("%s: %v", reason, err)
		}
		answer, err := layer.client.Client.Get(t.Context(), "/kept")
		if err != nil {
			t.Fatal(err)
		}
		if answer.Count != int64(kept) {
			t.Errorf("%s: there are %d keys", reason, answer.Count)
		}
		if _, err := layer.client.Put(t.Context(), "/kept", ""); err != nil {
			t.Fatal(err)
		}
		layer.Close()
	}
}

// TestLostLog: an etcd whose log has nothing in it, while its database has, is no new one,
// and is left as it is.
func TestLostLog(t *testing.T) {
	directory := t.TempDir()
	layer, err := StartEmbedded(t.Context(), EmbeddedOptions{Directory: directory})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := layer.client.Put(t.Context(), "/kept", ""); err != nil {
		t.Fatal(err)
	}
	layer.Close()
	place := filepath.Join(directory, "member", "wal")
	if err := os.RemoveAll(place); err != nil {
		t.Fatal(err)
	}
	log, err := wal.Create(zap.NewNop(), place, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if err := discardUnborn(directory, zap.NewNop()); err != nil {
		t.Fatal(err)
	}
	if !wal.Exist(place) {
		t.Error("the log is removed, and the next one would not be applied")
	}
}
