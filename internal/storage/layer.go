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
	"k8s.io/apiserver/pkg/storage/value"
	"k8s.io/utils/clock"
)

// compactionInterval is how often old revisions are dropped, and how long at least
// they are kept, unless Settings say otherwise.
const compactionInterval = 5 * time.Minute

// NoCompaction keeps all revisions; others are to drop them.
const NoCompaction time.Duration = -1

// Settings are what can be said of a Layer wherever its etcd runs. The zero value is fit
// for use.
type Settings struct {
	// Prefix begins all keys; "/registry" if empty.
	Prefix string
	// Anchor is what each cluster needs to be created in; nothing if nil.
	Anchor *Anchor
	// CompactionInterval is how often old revisions are dropped, and how long at least
	// they are kept: five minutes if 0.
	CompactionInterval time.Duration
	// LeaseReuse is for how long objects that expire share a lease; upstream's default
	// if 0.
	LeaseReuse time.Duration
}

func (s *Settings) prefix() string {
	if s.Prefix == "" {
		return "/registry"
	}
	return "/" + strings.Trim(s.Prefix, "/")
}

func (s *Settings) compaction() time.Duration {
	if s.CompactionInterval == 0 {
		return compactionInterval
	}
	return max(s.CompactionInterval, 0)
}

func (s *Settings) leases() etcd3.LeaseManagerConfig {
	leases := etcd3.NewDefaultLeaseManagerConfig()
	if s.LeaseReuse > 0 {
		leases.ReuseDurationSeconds = int64(s.LeaseReuse.Seconds())
	}
	return leases
}

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
	leases  etcd3.LeaseManagerConfig
	clock   *layerClock
	// encryption returns how the objects of a resource are encrypted; nil if none are.
	encryption value.ResourceTransformers
	// left are the resources that may have objects though their stores are not open.
	left closedStores

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

func newLayer(client *clientv3.Client, settings *Settings, exclusive bool, closeBackend func()) *Layer {
	kubernetesClient := &kubernetes.Client{Client: client}
	kubernetesClient.Kubernetes = kubernetesClient
	prefix := settings.prefix()
	kubernetesClient.Kubernetes = creates{kubernetesClient, client.KV, prefix, settings.Anchor}
	counter := newCounter(client, prefix)
	kubernetesClient.Kubernetes = counted{kubernetesClient.Kubernetes, counter}
	return &Layer{
		client:       kubernetesClient,
		counter:      counter,
		prefix:       prefix,
		exclusive:    exclusive,
		compactor:    etcd3.NewCompactor(client, settings.compaction(), clock.RealClock{}, nil),
		closeBackend: closeBackend,
		leases:       settings.leases(),
		clock:        newLayerClock(),
		stores:       map[Resource]*opened{},
		changed:      make(chan struct{}),
	}
}

// Encrypt makes stores that are opened from now on encrypt what they write, and read
// what was written so.
func (l *Layer) Encrypt(encryption value.ResourceTransformers) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.encryption = encryption
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
	l.clock.stop()
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

func notOpen(resource Resource) error {
	return fmt.Errorf("the store of %s is not open", resource.Prefix())
}
