package storage

import (
	"context"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/etcdserver"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3client"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3rpc"
	"go.etcd.io/etcd/server/v3/proxy/grpcproxy/adapter"
)

// readersTimeout bounds how long a closing etcd waits for its readers. They take
// milliseconds, but wait themselves for an etcd that has lost its disk.
const readersTimeout = 5 * time.Second

// embeddedClient is a client of an etcd in this process. In place of sockets it calls
// functions of the server, which read the database in the caller's goroutine.
type embeddedClient struct {
	*clientv3.Client

	// readers hold it for as long as they may read from the database. Whoever waits to lock
	// it keeps new ones out.
	readers *sync.RWMutex
}

func newEmbeddedClient(server *etcdserver.EtcdServer) embeddedClient {
	client, readers := v3client.New(server), &sync.RWMutex{}
	keys := adapter.KvServerToKvClient(guardedKeys{v3rpc.NewQuotaKVServer(server), readers})
	client.KV = clientv3.NewKVFromKVClient(keys, client)
	watches := adapter.WatchServerToWatchClient(guardedWatches{v3rpc.NewWatchServer(server), readers})
	client.Watcher = clientv3.NewWatchFromWatchClient(queuedWatches{watches}, client)
	return embeddedClient{client, readers}
}

// close ends all watches and lets nobody read any more. It returns when nobody does, so that
// the database can be closed: etcd itself waits for those only who come through a socket,
// and dies of any other who reads from a closed database.
func (c embeddedClient) close() {
	// Its error is that its context has been cancelled.
	_ = c.Client.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.readers.Lock()
	}()
	timeout := time.NewTimer(readersTimeout)
	defer timeout.Stop()
	select {
	case <-done:
	case <-timeout.C:
	}
}

// guardedKeys reads while the database is open.
type guardedKeys struct {
	pb.KVServer

	readers *sync.RWMutex
}

// Range implements pb.KVServer.
func (k guardedKeys) Range(ctx context.Context, request *pb.RangeRequest) (*pb.RangeResponse, error) {
	if !k.readers.TryRLock() {
		return nil, rpctypes.ErrGRPCStopped
	}
	defer k.readers.RUnlock()
	return k.KVServer.Range(ctx, request)
}

// Txn implements pb.KVServer.
func (k guardedKeys) Txn(ctx context.Context, request *pb.TxnRequest) (*pb.TxnResponse, error) {
	if !k.readers.TryRLock() {
		return nil, rpctypes.ErrGRPCStopped
	}
	defer k.readers.RUnlock()
	return k.KVServer.Txn(ctx, request)
}

// guardedWatches look up what was there before an event while the database is open.
type guardedWatches struct {
	pb.WatchServer

	readers *sync.RWMutex
}

// Watch implements pb.WatchServer.
func (w guardedWatches) Watch(stream pb.Watch_WatchServer) error {
	if !w.readers.TryRLock() {
		return rpctypes.ErrGRPCStopped
	}
	defer w.readers.RUnlock()
	return w.WatchServer.Watch(stream)
}
