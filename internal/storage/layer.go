package storage

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/kubernetes"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/etcd3"
	"k8s.io/utils/clock"
)

// compactionInterval is how often old revisions are dropped, and how long at least
// they are kept.
const compactionInterval = 5 * time.Minute

// Layer is the storage of one server: an etcd and the stores opened on it.
// All methods may be called concurrently.
type Layer struct {
	client *kubernetes.Client
	// prefix begins all keys, "/registry" by default.
	prefix string
	// exclusive says that no other process writes to this etcd. Consistent lists
	// then wait for the last write to their own resource only.
	exclusive bool
	compactor interface {
		etcd3.Compactor
		Stop()
	}
	closeBackend func()
	counter      *counter
	// sharing is what objects of all stores have in common.
	sharing sharing

	mu     sync.Mutex
	stores map[Resource]*opened
	// changed is closed, and replaced, when a store is opened or closed.
	changed chan struct{}
	closed  bool
}

type opened struct {
	store *store
	stop  func()
}

func newLayer(client *clientv3.Client, prefix string, anchor *Anchor, exclusive bool, closeBackend func()) *Layer {
	kubernetesClient := &kubernetes.Client{Client: client}
	kubernetesClient.Kubernetes = kubernetesClient
	prefix = "/" + strings.Trim(prefix, "/")
	if anchor != nil {
		kubernetesClient.Kubernetes = anchored{kubernetesClient, client.KV, prefix, *anchor}
	}
	counter := newCounter(client, prefix)
	kubernetesClient.Kubernetes = counted{kubernetesClient.Kubernetes, counter}
	return &Layer{
		client:       kubernetesClient,
		counter:      counter,
		prefix:       prefix,
		exclusive:    exclusive,
		compactor:    etcd3.NewCompactor(client, compactionInterval, clock.RealClock{}, nil),
		closeBackend: closeBackend,
		stores:       map[Resource]*opened{},
		changed:      make(chan struct{}),
	}
}

// Close stops all stores and the etcd behind them. What has been acknowledged is on
// disk already.
func (l *Layer) Close() {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return
	}
	l.closed = true
	stores := l.stores
	l.stores = nil
	l.mu.Unlock()

	var wait sync.WaitGroup
	for _, o := range stores {
		wait.Go(o.stop)
	}
	wait.Wait()
	l.counter.close()
	l.compactor.Stop()
	l.closeBackend()
}

// Healthy returns an error if etcd does not answer within the deadline of ctx.
func (l *Layer) Healthy(ctx context.Context) error {
	_, err := l.client.KV.Get(ctx, l.prefix+"/health", clientv3.WithKeysOnly())
	if err != nil {
		return fmt.Errorf("reading from etcd: %w", err)
	}
	return nil
}

// Ready returns an error that names a watch cache that has not been filled yet.
func (l *Layer) Ready() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return errors.New("storage is closed")
	}
	for resource, o := range l.stores {
		if err := o.store.ReadinessCheck(); err != nil {
			return fmt.Errorf("watch cache of %s: %w", resource.GroupResource, err)
		}
	}
	return nil
}

// Stores returns the open stores, and a channel that is closed when they are no longer
// all, or no longer the same ones.
func (l *Layer) Stores() (stores map[Resource]storage.Interface, changed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	stores = make(map[Resource]storage.Interface, len(l.stores))
	for resource, o := range l.stores {
		stores[resource] = o.store
	}
	return stores, l.changed
}

// storesChanged tells who waits for it that stores were opened or closed. The caller
// holds the lock.
func (l *Layer) storesChanged() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// Opened returns the resources whose stores are open.
func (l *Layer) Opened() []Resource {
	l.mu.Lock()
	defer l.mu.Unlock()
	resources := make([]Resource, 0, len(l.stores))
	for resource := range l.stores {
		resources = append(resources, resource)
	}
	return resources
}
