package storage

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/value"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// store is the tenancy seam of one resource. Methods it does not override do not
// depend on a cluster.
type store struct {
	storage.Interface

	// direct is the store without its watch cache.
	direct      storage.Interface
	layer       *Layer
	resource    Resource
	prefix      string
	codec       runtime.Codec
	transformer value.Transformer
	newObject   func() runtime.Object
	newList     func() runtime.Object

	// pending are the batches that are being written.
	pending pending
	// complete is asked about creates; nil if nobody is.
	complete atomic.Pointer[Complete]
	// lastWrite is the highest revision at which this process has written to the
	// resource.
	lastWrite atomic.Uint64
	// cached is a revision that the watch cache has reached, as lists have seen.
	cached atomic.Uint64
	// closed says that the store has been closed. Writes that were under way then end
	// in its place all the same, and count for the store that has been opened since.
	closed atomic.Bool
}

var _ storage.Interface = (*store)(nil)

// Create stores a new object in the cluster of ctx.
func (s *store) Create(ctx context.Context, key string, obj, out runtime.Object, ttl uint64) error {
	key, cluster, err := s.objectKey(ctx, key)
	if err != nil {
		return err
	}
	if err := setCluster(obj, cluster); err != nil {
		return err
	}
	done, err := false, error(nil)
	if complete := s.complete.Load(); complete != nil {
		done, err = s.createCompleted(ctx, *complete, cluster, key, obj, out, ttl)
	}
	if !done {
		err = s.Interface.Create(ctx, key, obj, out, ttl)
	}
	if err != nil {
		return refusal(err)
	}
	s.wrote(out)
	return nil
}

// Delete removes an object of the cluster of ctx.
func (s *store) Delete(ctx context.Context, key string, out runtime.Object, preconditions *storage.Preconditions,
	validate storage.ValidateObjectFunc, cached runtime.Object, opts storage.DeleteOptions,
) error {
	key, _, err := s.objectKey(ctx, key)
	if err != nil {
		return err
	}
	if guard := s.guardFor(ctx); guard != nil {
		preconditions, validate = guardedDelete(guard, key, preconditions, validate)
	}
	if err := s.Interface.Delete(ctx, key, out, preconditions, validate, cached, opts); err != nil {
		return err
	}
	s.wrote(out)
	return nil
}

// Get reads an object of the cluster of ctx.
func (s *store) Get(ctx context.Context, key string, opts storage.GetOptions, out runtime.Object) error {
	key, _, err := s.objectKey(ctx, key)
	if err != nil {
		return err
	}
	if guard := s.guardFor(ctx); guard != nil {
		return refusal(s.guardedGet(ctx, guard, key, opts, out))
	}
	return refusal(s.Interface.Get(ctx, key, opts, out))
}

// GuaranteedUpdate changes an object of the cluster of ctx.
func (s *store) GuaranteedUpdate(ctx context.Context, key string, destination runtime.Object, ignoreNotFound bool,
	preconditions *storage.Preconditions, tryUpdate storage.UpdateFunc, cached runtime.Object,
) error {
	key, cluster, err := s.objectKey(ctx, key)
	if err != nil {
		return err
	}
	if guard := s.guardFor(ctx); guard != nil {
		preconditions, tryUpdate = guardedUpdate(guard, key, preconditions, tryUpdate)
	}
	update := func(input runtime.Object, meta storage.ResponseMeta) (runtime.Object, *uint64, error) {
		output, ttl, err := tryUpdate(input, meta)
		if err != nil {
			return nil, nil, err
		}
		return output, ttl, setCluster(output, cluster)
	}
	if err := s.Interface.GuaranteedUpdate(ctx, key, destination, ignoreNotFound, preconditions, update, cached); err != nil {
		return refusal(err)
	}
	s.wrote(destination)
	return nil
}

// GetList lists objects of the cluster of ctx, or of all clusters.
func (s *store) GetList(ctx context.Context, key string, opts storage.ListOptions, list runtime.Object) error {
	key, cluster, err := s.listKey(ctx, key, &opts)
	if err != nil {
		return err
	}
	if s.layer.exclusive && isConsistentRead(opts) && s.ReadinessCheck() == nil {
		s.pending.wait(ctx, cluster)
		return s.listFresh(ctx, key, opts, list)
	}
	if !s.layer.exclusive && isConsistentRead(opts) && !cluster.IsWildcard() {
		if done, err := s.listFew(ctx, key, opts, list); done || err != nil {
			return err
		}
	}
	return s.Interface.GetList(ctx, key, opts, list)
}

// listFresh is GetList from the watch cache with all that has been written before. Upstream
// begins a goroutine, for three seconds, for every list that may have to wait. Where the
// cache is known to be there already it is not asked to: whoever empties a cluster lists all
// resources, most of which nobody has written to for long.
func (s *store) listFresh(ctx context.Context, key string, opts storage.ListOptions, list runtime.Object) error {
	wanted := s.freshness()
	if opts.Predicate.Limit == 0 && s.cached.Load() >= wanted {
		opts.ResourceVersion = "0"
		return s.Interface.GetList(ctx, key, opts, list)
	}
	opts.ResourceVersion, opts.ResourceVersionMatch = strconv.FormatUint(wanted, 10), metav1.ResourceVersionMatchNotOlderThan
	if err := s.Interface.GetList(ctx, key, opts, list); err != nil {
		return err
	}
	raise(&s.cached, wanted)
	return nil
}

// Watch watches objects of the cluster of ctx, or of all clusters.
func (s *store) Watch(ctx context.Context, key string, opts storage.ListOptions) (watch.Interface, error) {
	key, cluster, err := s.listKey(ctx, key, &opts)
	if err != nil {
		return nil, err
	}
	if !cluster.IsWildcard() {
		opts.Predicate = selectCluster(opts.Predicate, cluster)
	}
	if s.layer.exclusive && opts.ResourceVersion == "" && opts.SendInitialEvents != nil && *opts.SendInitialEvents {
		s.pending.wait(ctx, cluster)
		opts.ResourceVersion = strconv.FormatUint(s.freshness(), 10)
	}
	w, err := s.Interface.Watch(ctx, key, opts)
	return w, refusal(err)
}

// objectKey returns the key of an object and the one cluster it is in.
func (s *store) objectKey(ctx context.Context, key string) (string, logicalcluster.Name, error) {
	cluster, err := logicalcluster.Require(ctx)
	if err != nil {
		return "", logicalcluster.Name{}, err
	}
	if cluster.IsWildcard() {
		return "", logicalcluster.Name{}, fmt.Errorf("%s: a single object cannot be reached through the wildcard cluster", s.resource.GroupResource)
	}
	key, ok := insertCluster(s.prefix, key, cluster)
	if !ok {
		return "", logicalcluster.Name{}, fmt.Errorf("key %q is not below %q", key, s.prefix)
	}
	return key, cluster, checkSegments(key)
}

// listKey returns the key below which to list or watch. For the wildcard cluster it
// turns what the key says of namespace and name into a selection over all clusters.
func (s *store) listKey(ctx context.Context, key string, opts *storage.ListOptions) (string, logicalcluster.Name, error) {
	cluster, err := logicalcluster.Require(ctx)
	if err != nil {
		return "", logicalcluster.Name{}, err
	}
	if !cluster.IsWildcard() {
		full, ok := insertCluster(s.prefix, key, cluster)
		if !ok {
			return "", logicalcluster.Name{}, fmt.Errorf("key %q is not below %q", key, s.prefix)
		}
		return full, cluster, checkSegments(key)
	}
	opts.Recursive = true
	rest := strings.TrimPrefix(key, s.prefix)
	if namespace, ok := request.NamespaceFrom(ctx); ok && namespace != "" && strings.HasPrefix(rest+"/", "/"+namespace+"/") {
		opts.Predicate.Field = and(opts.Predicate.Field, fields.OneTermEqualSelector("metadata.namespace", namespace))
	}
	return s.prefix, cluster, nil
}

// freshness is the resource version that a consistent list has to wait for: that of
// the last write to the resource. Waiting for the revision of the whole etcd, as has
// to be done where others write too, costs a round of progress requests.
func (s *store) freshness() uint64 {
	// 0 would make the cacher ignore the limit of a list; every cache is at least at 1.
	return max(s.lastWrite.Load(), 1)
}

// raise makes a number at least as high as another.
func raise(number *atomic.Uint64, to uint64) {
	for {
		now := number.Load()
		if to <= now || number.CompareAndSwap(now, to) {
			return
		}
	}
}

// wrote notes that the resource has been written to; obj is what the write returned.
func (s *store) wrote(obj runtime.Object) {
	version, err := s.Versioner().ObjectResourceVersion(obj)
	if err != nil {
		return
	}
	s.wroteAt(version)
}

func (s *store) wroteAt(version uint64) {
	raise(&s.lastWrite, version)
	if !s.closed.Load() {
		return
	}
	s.layer.left.add(s.resource)
	if successor, ok := s.layer.lookUp(s.resource); ok && successor != s {
		successor.wroteAt(version)
	}
}

func isConsistentRead(opts storage.ListOptions) bool {
	return opts.Recursive && opts.ResourceVersion == "" && opts.ResourceVersionMatch == "" && opts.Predicate.Continue == ""
}

func and(selector, more fields.Selector) fields.Selector {
	if selector == nil || selector.Empty() {
		return more
	}
	return fields.AndSelectors(selector, more)
}

// setCluster writes the cluster into the annotations of an object that is about to
// be stored.
func setCluster(obj runtime.Object, cluster logicalcluster.Name) error {
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return err
	}
	annotations := accessor.GetAnnotations()
	if annotations[logicalcluster.AnnotationKey] == cluster.String() {
		return nil
	}
	// A new map: the old one may be shared with an object that is somebody else's.
	withCluster := make(map[string]string, len(annotations)+1)
	for key, value := range annotations {
		withCluster[key] = value
	}
	withCluster[logicalcluster.AnnotationKey] = cluster.String()
	accessor.SetAnnotations(withCluster)
	return nil
}
