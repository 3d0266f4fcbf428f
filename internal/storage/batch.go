package storage

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/storage"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// MaxBatch is how many objects a batch may hold: etcd's default bound on a transaction.
const MaxBatch = 128

// How often, and for how long at most, a watch cache is asked whether it has what a batch
// has written.
const (
	cachePoll    = 200 * time.Microsecond
	cacheTimeout = time.Second
)

// ErrBatchConflict says that nothing of a batch was written, because an object that
// it creates exists or one that it changes has changed or is gone.
var ErrBatchConflict = errors.New("an object of the batch exists already or has changed")

// Batch is a set of writes that happen together or not at all, in one transaction
// at one resource version. The objects are encoded and keyed as single writes
// encode and key them. They do not pass strategies or admission: batches are for
// the server's own objects, complete with their system fields.
type Batch struct {
	layer    *Layer
	compares []clientv3.Cmp
	writes   []clientv3.Op
	// touched are the stores of the writes, in the same order; nil where none is open.
	touched []*store
	// effects are what the writes do to the number of objects, in the same order.
	effects []effect
	// last is what the batch changes last in each store, but for purges.
	last map[*store]step
	// places are where the batch writes, and over is closed when it has been written.
	places map[place]struct{}
	over   chan struct{}
	// revision is that of the commit.
	revision int64
	err      error
}

// effect is what a write does to the number of objects of a cluster. A purge says
// afterwards how many it has removed.
type effect struct {
	cluster logicalcluster.Name
	delta   int32
	purge   bool
}

// step is what a batch does to an object.
type step struct {
	// key is without the prefix of the layer.
	key     string
	removes bool
	// alone says that the batch changes nothing else in the store.
	alone bool
}

// NewBatch returns an empty batch.
func (l *Layer) NewBatch() *Batch {
	return &Batch{layer: l, last: map[*store]step{}, places: map[place]struct{}{}}
}

// Create adds the creation of an object in a cluster.
func (b *Batch) Create(resource Resource, cluster logicalcluster.Name, obj runtime.Object) {
	b.put(resource, cluster, obj, 0)
}

// Update adds the change of an object in a cluster. The resource version of obj is
// the one that has to be stored for the batch to succeed.
func (b *Batch) Update(resource Resource, cluster logicalcluster.Name, obj runtime.Object) {
	version, err := storage.APIObjectVersioner{}.ObjectResourceVersion(obj)
	if err != nil || version == 0 {
		b.fail(fmt.Errorf("updating an object of %s without a resource version", resource.GroupResource))
		return
	}
	b.put(resource, cluster, obj, int64(version))
}

// Delete adds the removal of an object from a cluster, whatever its finalizers. The
// resource version of obj is the one that has to be stored for the batch to succeed.
func (b *Batch) Delete(resource Resource, cluster logicalcluster.Name, obj runtime.Object) {
	key, version, s := b.locate(resource, cluster, obj.DeepCopyObject())
	if b.err != nil {
		return
	}
	if version == 0 {
		b.fail(fmt.Errorf("deleting an object of %s without a resource version", resource.GroupResource))
		return
	}
	b.compares = append(b.compares, clientv3.Compare(clientv3.ModRevision(key), "=", version))
	b.writes = append(b.writes, clientv3.OpDelete(key))
	b.notes(s, key, true)
	b.touches(s, cluster)
	b.affects(resource, effect{cluster: cluster, delta: -1})
}

// Require makes the batch succeed only if obj is stored as it is, at its resource
// version.
func (b *Batch) Require(resource Resource, cluster logicalcluster.Name, obj runtime.Object) {
	key, version, _ := b.locate(resource, cluster, obj.DeepCopyObject())
	if b.err == nil {
		b.compares = append(b.compares, clientv3.Compare(clientv3.ModRevision(key), "=", version))
	}
}

// RequireExists makes the batch succeed only if there is an object of that name, as it may
// be; namespace is empty for one that is in none.
func (b *Batch) RequireExists(resource Resource, cluster logicalcluster.Name, namespace, name string) {
	s, ok := b.layer.lookUp(resource)
	if !ok {
		b.fail(notOpen(resource))
		return
	}
	key := b.layer.prefix + clusterKey(s.prefix, cluster)
	if namespace != "" {
		key += "/" + namespace
	}
	b.compares = append(b.compares, clientv3.Compare(clientv3.CreateRevision(key+"/"+name), ">", 0))
}

// Purge adds the removal of all keys of a cluster that belong to one of the
// resources, whether their stores are open or not, without regard for finalizers.
// The watch caches see each key go.
func (b *Batch) Purge(cluster logicalcluster.Name, resources ...Resource) {
	if cluster.Empty() || cluster.IsWildcard() {
		b.fail(fmt.Errorf("cluster %q cannot be purged", cluster))
		return
	}
	for _, resource := range resources {
		key := b.layer.prefix + clusterKey(resource.Prefix(), cluster) + "/"
		s, ok := b.layer.lookUp(resource)
		if !ok {
			b.layer.left.add(resource)
		}
		b.writes = append(b.writes, clientv3.OpDelete(key, clientv3.WithPrefix()))
		b.touches(s, cluster)
		b.affects(resource, effect{cluster: cluster, purge: true})
	}
}

// Len returns the number of writes in the batch.
func (b *Batch) Len() int { return len(b.writes) }

// ResourceVersion returns the version of all that the batch has put, once it has been
// committed.
func (b *Batch) ResourceVersion() string { return strconv.FormatInt(b.revision, 10) }

// Revision is ResourceVersion as a number.
func (b *Batch) Revision() uint64 { return uint64(b.revision) }

// Commit writes the batch. It returns ErrBatchConflict if the state of the store
// does not fit; then nothing has been written. An empty batch does nothing.
func (b *Batch) Commit(ctx context.Context) error {
	switch {
	case b.err != nil:
		return b.err
	case len(b.writes) == 0:
		return nil
	case len(b.writes) > MaxBatch:
		return fmt.Errorf("a batch of %d writes is larger than %d", len(b.writes), MaxBatch)
	}
	defer b.begin()()
	response, err := b.layer.client.KV.Txn(ctx).If(b.compares...).Then(b.writes...).Commit()
	if err != nil {
		if unknownOutcome(err) {
			b.layer.counter.doubt()
		}
		return fmt.Errorf("writing a batch of %d objects: %w", len(b.writes), err)
	}
	if !response.Succeeded {
		return ErrBatchConflict
	}
	b.written(ctx, response.Header.Revision, response.Responses)
	return nil
}

// written notes that the batch was written at a revision. responses are those to its writes.
func (b *Batch) written(ctx context.Context, revision int64, responses []*etcdserverpb.ResponseOp) {
	b.revision = revision
	for i, effect := range b.effects {
		if effect.purge {
			effect.delta = -int32(responses[i].GetResponseDeleteRange().Deleted)
		}
		b.layer.counter.wrote(effect.cluster, effect.delta, revision)
	}
	b.waitForCaches(ctx, uint64(revision))
	for i, s := range b.touched {
		// A watch cache hears nothing of a purge that found nothing. Consistent lists
		// would wait for it in vain, until etcd's next word on its progress.
		if purged := responses[i].GetResponseDeleteRange(); s == nil || purged != nil && purged.Deleted == 0 {
			continue
		}
		s.wroteAt(uint64(revision))
	}
}

// waitForCaches waits until the watch caches have taken in all that the batch has put and
// deleted. They take events one by one and say that they are at a version when they have the
// first of it, so a list at that version could miss the others.
func (b *Batch) waitForCaches(ctx context.Context, revision uint64) {
	for s, last := range b.last {
		if last.alone {
			continue
		}
		// Whatever keeps a cache from it, the batch is written: there is no error to return.
		_ = wait.PollUntilContextTimeout(ctx, cachePoll, cacheTimeout, true, func(ctx context.Context) (bool, error) {
			return s.hasTaken(ctx, last, revision), nil
		})
	}
}

// hasTaken says whether the watch cache has taken in a step that was written at a version.
func (s *store) hasTaken(ctx context.Context, done step, version uint64) bool {
	options := storage.GetOptions{ResourceVersion: "0"}
	if done.removes {
		// A cache that is behind may not have had the object yet.
		options.ResourceVersion = strconv.FormatUint(version, 10)
	}
	obj := s.newObject()
	if err := s.Interface.Get(ctx, done.key, options, obj); err != nil {
		return done.removes && storage.IsNotFound(err)
	}
	cached, err := s.Versioner().ObjectResourceVersion(obj)
	return err == nil && cached >= version
}

// put adds a write that needs the key to be at a revision; 0 is "not there".
func (b *Batch) put(resource Resource, cluster logicalcluster.Name, obj runtime.Object, revision int64) {
	obj = obj.DeepCopyObject()
	key, _, s := b.locate(resource, cluster, obj)
	if b.err != nil {
		return
	}
	data, err := s.encode(context.Background(), key, obj)
	if err != nil {
		b.fail(fmt.Errorf("encoding %s: %w", key, err))
		return
	}
	b.compares = append(b.compares, clientv3.Compare(clientv3.ModRevision(key), "=", revision))
	b.writes = append(b.writes, clientv3.OpPut(key, string(data)))
	b.touches(s, cluster)
	created := int32(0)
	if revision == 0 {
		created = 1
	}
	b.affects(resource, effect{cluster: cluster, delta: created})
	b.notes(s, key, false)
}

// notes remembers what the last write does.
func (b *Batch) notes(s *store, key string, removes bool) {
	_, more := b.last[s]
	b.last[s] = step{key: strings.TrimPrefix(key, b.layer.prefix), removes: removes, alone: !more}
}

// locate returns the key of obj in etcd, the version obj carries, and its store. It
// marks obj as one of the cluster.
func (b *Batch) locate(resource Resource, cluster logicalcluster.Name, obj runtime.Object) (key string, version int64, s *store) {
	s, ok := b.layer.lookUp(resource)
	if !ok {
		b.fail(notOpen(resource))
		return "", 0, nil
	}
	if err := setCluster(obj, cluster); err != nil {
		b.fail(err)
		return "", 0, nil
	}
	key, err := objectKey(s.prefix, obj)
	if err != nil {
		b.fail(err)
		return "", 0, nil
	}
	revision, err := s.Versioner().ObjectResourceVersion(obj)
	if err != nil {
		b.fail(err)
		return "", 0, nil
	}
	return b.layer.prefix + key, int64(revision), s
}

// affects notes what the last write does to the number of objects.
func (b *Batch) affects(resource Resource, e effect) {
	if !counts(resource.GroupResource) {
		e = effect{}
	}
	b.effects = append(b.effects, e)
}

func (b *Batch) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

// encode returns obj as a single write would store it below key.
func (s *store) encode(ctx context.Context, key string, obj runtime.Object) ([]byte, error) {
	if err := s.Versioner().PrepareObjectForStorage(obj); err != nil {
		return nil, err
	}
	data, err := runtime.Encode(s.codec, obj)
	if err != nil {
		return nil, err
	}
	return s.transformer.TransformToStorage(ctx, data, keyContext(key))
}

// keyContext authenticates stored data by its key, as upstream's store does.
type keyContext string

// AuthenticatedData returns the key.
func (k keyContext) AuthenticatedData() []byte { return []byte(k) }

func (l *Layer) lookUp(resource Resource) (*store, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	o, ok := l.stores[resource]
	if !ok {
		return nil, false
	}
	return o.store, true
}
