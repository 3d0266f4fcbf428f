package apiexportendpointslice

import (
	"context"
	"maps"
	"sync"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/storage/cached"
	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	topologyv1alpha1 "github.com/forkless/kcp/pkg/apis/topology/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Paths turns paths into names of logical clusters. One that leads nowhere is a NotFound
// Status error.
type Paths interface {
	Resolve(ctx context.Context, path logicalcluster.Path) (logicalcluster.Name, error)
}

// Config is what the controller works with.
type Config struct {
	Layer      *storage.Layer
	APIs       *cached.APIs
	Partitions cached.PartitionReader
	Shards     cached.ShardReader
	// Shard is the name of this shard.
	Shard string
	Paths Paths
}

// New returns the controller that says where the objects of exports are found.
//
// Its keys are those of slices. Two other sorts stand for slices that have to be found
// first: everything for all of them, and a key without a cluster for those of the export
// that is referred to by a path, as the namespace, and a name.
func New(config Config) (*controller.Controller, error) {
	r := &reconciler{Config: config, witnesses: &witnesses{bindings: config.APIs}, interests: newInterests()}
	sources, err := sourcesOf(config.Layer, map[storage.Resource]controller.Source{
		cached.APIExportEndpointSlices: {Keys: controller.OwnKey, Known: r.interests.all},
		cached.APIExports:              {Keys: r.keysOfExport, Known: func() []controller.Key { return []controller.Key{everything} }},
		cached.APIBindings:             {Keys: r.keysOfBinding, Known: r.keysOfWitnesses},
		cached.Partitions:              {Keys: r.keysOfPartition, Known: r.interests.all},
		cached.Shards:                  {Keys: r.keysOfShard},
	})
	if err != nil {
		return nil, err
	}
	c := controller.New(controller.Options{
		Name: "apiexportendpointslice", Workers: workers, Sources: sources, Reconcile: r.reconcile,
	})
	r.enqueue = c.Enqueue
	return c, nil
}

// everything is the key that stands for all slices.
var everything = controller.Key{}

type reconciler struct {
	Config
	witnesses *witnesses
	interests *interests
	enqueue   func(controller.Key)

	mu sync.Mutex
	// shard is what matters of this shard, as it was last heard of.
	shard struct {
		url    string
		labels map[string]string
	}
}

func (r *reconciler) keysOfExport(obj runtime.Object) []controller.Key {
	keys := controller.OwnKey(obj)
	export, ok := obj.(*apisv1alpha2.APIExport)
	if !ok || len(keys) == 0 {
		return nil
	}
	for _, ref := range referencesTo(keys[0].Cluster, export) {
		keys = append(keys, r.interests.inExport(ref)...)
	}
	return keys
}

func (r *reconciler) keysOfBinding(obj runtime.Object) []controller.Key {
	binding, ok := obj.(*apisv1alpha2.APIBinding)
	if !ok {
		return nil
	}
	ref, matters := r.witnesses.heard(binding)
	if !matters {
		return nil
	}
	return []controller.Key{keyOfReference(ref)}
}

func (r *reconciler) keysOfWitnesses() []controller.Key {
	var keys []controller.Key
	for _, ref := range r.witnesses.references() {
		keys = append(keys, keyOfReference(ref))
	}
	return keys
}

func keyOfReference(ref reference) controller.Key {
	return controller.Key{Namespace: ref.path, Name: ref.name}
}

func (r *reconciler) keysOfPartition(obj runtime.Object) []controller.Key {
	var keys []controller.Key
	for _, partition := range controller.OwnKey(obj) {
		keys = append(keys, r.interests.inPartition(partition)...)
	}
	return keys
}

// keysOfShard returns everything if something has changed that slices say: shards report
// about themselves all the time.
func (r *reconciler) keysOfShard(obj runtime.Object) []controller.Key {
	shard, ok := obj.(*corev1alpha1.Shard)
	if !ok || shard.Name != r.Shard {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.shard.url == shard.Spec.VirtualWorkspaceURL && maps.Equal(r.shard.labels, shard.Labels) {
		return nil
	}
	r.shard.url, r.shard.labels = shard.Spec.VirtualWorkspaceURL, shard.Labels
	return []controller.Key{everything}
}

func (r *reconciler) reconcile(ctx context.Context, key controller.Key) error {
	switch {
	case key == everything:
		return r.enqueueAll(ctx)
	case key.Cluster.Empty():
		return r.enqueueThoseOf(ctx, reference{path: key.Namespace, name: key.Name})
	default:
		return r.reconcileSlice(ctx, key)
	}
}

func (r *reconciler) enqueueAll(ctx context.Context) error {
	slices, err := r.APIs.EndpointSlices(ctx, logicalcluster.Wildcard)
	for i := range slices {
		r.enqueue(controller.Key{Cluster: logicalcluster.FromAnnotations(slices[i].Annotations), Name: slices[i].Name})
	}
	return err
}

// enqueueThoseOf enqueues the slices of an export that a binding refers to.
func (r *reconciler) enqueueThoseOf(ctx context.Context, ref reference) error {
	// If nobody refers to it any more, this forgets it, whether it has slices or not.
	if _, err := r.witnesses.refersTo(ctx, ref); err != nil {
		return err
	}
	cluster, export, err := r.export(ctx, ref)
	if err != nil || export == nil {
		return err
	}
	r.enqueue(controller.Key{Cluster: cluster, Name: ref.name})
	for _, ref := range referencesTo(cluster, export) {
		for _, slice := range r.interests.inExport(ref) {
			r.enqueue(slice)
		}
	}
	return nil
}

func (r *reconciler) reconcileSlice(ctx context.Context, key controller.Key) error {
	slice, err := r.APIs.EndpointSlice(ctx, key.Cluster, key.Name)
	if apierrors.IsNotFound(err) {
		r.interests.set(key, interest{})
		return nil
	}
	if err != nil {
		return err
	}
	in, err := r.gather(ctx, key, slice)
	if err != nil {
		return err
	}
	wanted := Decide(in)
	if equality.Semantic.DeepEqual(slice, wanted) {
		return nil
	}
	batch := r.Layer.NewBatch()
	batch.Update(cached.APIExportEndpointSlices, key.Cluster, wanted)
	return commit(ctx, batch, key.Name)
}

// gather reads what a slice is about, and makes sure that changes of it are heard of
// before it does.
func (r *reconciler) gather(ctx context.Context, key controller.Key, slice *apisv1alpha1.APIExportEndpointSlice) (Input, error) {
	in := Input{Slice: slice}
	ref := referenceFrom(key.Cluster, slice.Spec.APIExport.Path, slice.Spec.APIExport.Name)
	cluster, err := r.resolve(ctx, ref.path)
	if err != nil {
		return in, err
	}
	wanted := interest{}
	if cluster != key.Cluster || ref.name != key.Name {
		wanted.export = ref
	}
	if slice.Spec.Partition != "" {
		wanted.partition = controller.Key{Cluster: key.Cluster, Name: slice.Spec.Partition}
	}
	r.interests.set(key, wanted)

	cluster, export, err := r.export(ctx, ref)
	if err != nil {
		return in, err
	}
	if export != nil {
		in.ExportCluster = cluster
		if in.Bound, err = r.isBound(ctx, cluster, export); err != nil {
			return in, err
		}
	}
	if in.Partition, err = r.partition(ctx, wanted.partition); err != nil {
		return in, err
	}
	in.Shard, err = r.ownShard(ctx)
	return in, err
}

// export returns an export and its cluster, nil if there is none.
func (r *reconciler) export(ctx context.Context, ref reference) (logicalcluster.Name, *apisv1alpha2.APIExport, error) {
	cluster, err := r.resolve(ctx, ref.path)
	if err != nil || cluster.Empty() {
		return cluster, nil, err
	}
	export, err := r.APIs.Export(ctx, cluster, ref.name)
	if apierrors.IsNotFound(err) {
		return cluster, nil, nil
	}
	return cluster, export, err
}

// resolve returns the cluster at a path, the zero Name if there is none.
func (r *reconciler) resolve(ctx context.Context, path string) (logicalcluster.Name, error) {
	parsed, err := logicalcluster.ParsePath(path)
	if err != nil {
		return logicalcluster.Name{}, nil //nolint:nilerr // because what is no path leads nowhere
	}
	cluster, err := r.Paths.Resolve(ctx, parsed)
	if apierrors.IsNotFound(err) || cluster.IsWildcard() {
		return logicalcluster.Name{}, nil
	}
	return cluster, err
}

// isBound says whether a binding refers to an export.
func (r *reconciler) isBound(ctx context.Context, cluster logicalcluster.Name, export *apisv1alpha2.APIExport) (bool, error) {
	for _, ref := range referencesTo(cluster, export) {
		if bound, err := r.witnesses.refersTo(ctx, ref); bound || err != nil {
			return bound, err
		}
	}
	return false, nil
}

// referencesTo returns all references that are to an export.
func referencesTo(cluster logicalcluster.Name, export *apisv1alpha2.APIExport) []reference {
	refs := []reference{{path: cluster.String(), name: export.Name}}
	if path := export.Annotations[logicalcluster.PathAnnotationKey]; path != "" && path != refs[0].path {
		refs = append(refs, reference{path: path, name: export.Name})
	}
	return refs
}

// partition returns a Partition, nil if there is none.
func (r *reconciler) partition(ctx context.Context, key controller.Key) (*topologyv1alpha1.Partition, error) {
	if key == (controller.Key{}) {
		return nil, nil
	}
	partition, err := r.Partitions.Get(ctx, key.Cluster, key.Name)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return partition, err
}

// ownShard returns this shard, nil if it is not known.
func (r *reconciler) ownShard(ctx context.Context) (*corev1alpha1.Shard, error) {
	shards, err := r.Shards.List(ctx)
	for i := range shards {
		if shards[i].Name == r.Shard {
			return &shards[i], nil
		}
	}
	return nil, err
}
