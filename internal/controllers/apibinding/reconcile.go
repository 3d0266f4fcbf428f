package apibinding

import (
	"context"
	"errors"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/forkless/kcp/internal/binding"
	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/permissionclaims"
	"github.com/forkless/kcp/internal/schema"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/storage/cached"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// attempts is how often a binding is decided about before others have their turn.
const attempts = 3

func (r *reconciler) reconcile(ctx context.Context, key controller.Key) error {
	if key.Cluster == logicalcluster.BoundCRDs {
		return r.collect(ctx, key)
	}
	b, err := r.APIs.Binding(ctx, key.Cluster, key.Name)
	if apierrors.IsNotFound(err) {
		return r.gone(ctx, key)
	}
	if err != nil {
		return err
	}
	r.announced.seen(key, b.UID)
	// From now on changes of the export are heard of.
	r.unused(r.index.set(key, b))
	if !b.DeletionTimestamp.IsZero() {
		return r.end(ctx, key, b)
	}
	for range attempts {
		err := r.bind(ctx, key, b)
		if !errors.Is(err, storage.ErrBatchConflict) {
			return err
		}
		if b, err = r.APIs.CurrentBinding(ctx, key.Cluster, key.Name); err != nil || !b.DeletionTimestamp.IsZero() {
			// An event says the same, or will do.
			return ignoreNotFound(err)
		}
	}
	return apierrors.NewConflict(cached.APIBindings.GroupResource, key.Name, storage.ErrBatchConflict)
}

// bind brings a binding that is to stay to what it should be.
func (r *reconciler) bind(ctx context.Context, key controller.Key, b *apisv1alpha2.APIBinding) error {
	f, err := r.gather(ctx, key.Cluster, b)
	if err != nil {
		return err
	}
	if !binding.Claims(f.Input) {
		return r.apply(ctx, key, f)
	}
	defer r.Locks.Lock(key.Cluster)()
	// Before what others have is looked at, so that no change of it goes unheard.
	r.index.wait(key, true)
	if err := r.gatherRivals(ctx, f); err != nil {
		return err
	}
	return r.apply(ctx, key, f)
}

// apply decides about a binding and does what comes of it.
func (r *reconciler) apply(ctx context.Context, key controller.Key, f *facts) error {
	b, definition := f.Binding, f.definition(r.definitionOf(ctx))
	version := versionOf(b.ResourceVersion)
	plan := binding.Decide(f.Input)
	plan.Binding = permissionclaims.Settled(plan.Binding)
	r.index.wait(key, plan.Waits)

	batch := r.Layer.NewBatch()
	if plan.Binding != b {
		batch.Update(cached.APIBindings, key.Cluster, plan.Binding)
	}
	r.addLocks(batch, key.Cluster, f, plan)
	if err := r.writeDefinitions(ctx, plan.Binding, f); err != nil {
		return err
	}
	if batch.Len() > 0 {
		r.use(key, plan.Binding)
		r.requireDefinitions(batch, plan.Binding, f)
	}
	if batch.Len() == 0 {
		r.Catalog.Bind(key.Cluster, key.Name, version, r.served(b, definition))
		return nil
	}
	// Whoever reads that something is bound finds it served.
	served := r.served(plan.Binding, definition)
	r.Catalog.Bind(key.Cluster, key.Name, version, served)
	if err := batch.Commit(ctx); err != nil {
		r.Catalog.Bind(key.Cluster, key.Name, version, r.served(b, definition))
		return err
	}
	r.Catalog.Bind(key.Cluster, key.Name, versionOf(batch.ResourceVersion()), served)
	return nil
}

// addLocks adds to batch what plan wants the LogicalCluster to say.
func (r *reconciler) addLocks(batch *storage.Batch, cluster logicalcluster.Name, f *facts, plan binding.Plan) {
	if !plan.Claims || f.ClusterGone {
		return
	}
	lc := binding.WithLocks(f.lc, plan.Locks)
	if lc == f.lc {
		batch.Require(cached.LogicalClusters, cluster, lc)
		return
	}
	batch.Update(cached.LogicalClusters, cluster, lc)
	if plan.Binding == f.Binding {
		// It may have inherited something since it was read.
		batch.Require(cached.APIBindings, cluster, plan.Binding)
	}
}

// required is how many definitions a transaction requires. The rest of it is for the binding
// and its locks. Of further ones that are collected in the same moment the controller hears,
// and stores them again.
const required = storage.MaxBatch / 2

// requireDefinitions adds to batch that the definitions are there that b binds and that are
// offered.
func (r *reconciler) requireDefinitions(batch *storage.Batch, b *apisv1alpha2.APIBinding, f *facts) {
	for i, bound := range b.Status.BoundResources {
		if _, ok := f.schemas[bound.Schema.UID]; ok && i < required {
			batch.RequireExists(cached.CustomResourceDefinitions, logicalcluster.BoundCRDs, "", bound.Schema.UID)
		}
	}
}

// writeDefinitions stores the definitions that b is about to bind and that are not stored,
// or not as they should be. Each is written by itself, as they may be too many and too big
// for one transaction, and before the binding, so that none is missing that is bound. Those
// whose binding is never written are collected.
func (r *reconciler) writeDefinitions(ctx context.Context, b *apisv1alpha2.APIBinding, f *facts) error {
	for _, bound := range b.Status.BoundResources {
		uid := bound.Schema.UID
		offered, ok := f.schemas[uid]
		if !ok {
			continue
		}
		known, err := r.stored.get(ctx, uid)
		if err != nil {
			return err
		}
		if known != nil && known.Hash == offered.definition.Hash {
			continue
		}
		batch := r.Layer.NewBatch()
		if err := r.addDefinition(ctx, batch, offered, f.Export.Cluster); err != nil {
			return err
		}
		if err := batch.Commit(ctx); err != nil {
			return err
		}
		r.stored.wrote(uid, offered.definition)
	}
	return nil
}

func (r *reconciler) addDefinition(ctx context.Context, batch *storage.Batch, offered offered, where logicalcluster.Name) error {
	crd, err := schema.BoundCRD(offered.schema, where, offered.conversion)
	if err != nil {
		return err
	}
	switch before, err := r.Definitions.GetCurrent(ctx, logicalcluster.BoundCRDs, crd.Name); {
	case apierrors.IsNotFound(err):
		rest.FillObjectMetaSystemFields(crd)
		crd.CreationTimestamp = r.now()
	case err != nil:
		return err
	default:
		crd.UID, crd.CreationTimestamp, crd.ResourceVersion = before.UID, before.CreationTimestamp, before.ResourceVersion
	}
	return r.Definitions.Add(batch, logicalcluster.BoundCRDs, crd)
}

// gone forgets a binding. One that went without having been emptied (somebody has taken its
// finalizer away) has left its locks.
func (r *reconciler) gone(ctx context.Context, key controller.Key) error {
	back, err := r.forget(ctx, key)
	if err != nil || back {
		return err
	}
	lc, err := r.Clusters.GetCached(ctx, key.Cluster)
	if err != nil {
		return ignoreNotFound(err)
	}
	holder := binding.Lock{Binding: key.Name}
	held := binding.LocksOf(lc).Of(holder)
	if len(held) == 0 {
		return nil
	}
	defer r.Locks.Lock(key.Cluster)()
	_, err = r.APIs.CurrentBinding(ctx, key.Cluster, key.Name)
	if !apierrors.IsNotFound(err) {
		return err
	}
	if lc, err = r.Clusters.GetCurrent(ctx, key.Cluster); err != nil {
		return ignoreNotFound(err)
	}
	wanted := binding.WithLocks(lc, binding.LocksOf(lc).Without(holder))
	if wanted == lc {
		return nil
	}
	return r.Clusters.Update(ctx, key.Cluster, wanted)
}

// forget forgets what is known of a binding that the watch cache does not have, unless that
// is about one that has just been created: back says so, and an event will.
func (r *reconciler) forget(ctx context.Context, key controller.Key) (back bool, err error) {
	defer r.Locks.Lock(key.Cluster)()
	if r.announced.has(key) {
		_, err := r.APIs.CurrentBinding(ctx, key.Cluster, key.Name)
		if !apierrors.IsNotFound(err) {
			return err == nil, err
		}
		r.announced.drop(key)
	}
	r.Catalog.Unbind(key.Cluster, key.Name)
	r.unused(r.index.remove(key))
	return false, nil
}

// asConflict returns err as what makes the controller come back quietly, if it is that.
func asConflict(err error, key controller.Key) error {
	if errors.Is(err, storage.ErrBatchConflict) {
		return apierrors.NewConflict(cached.APIBindings.GroupResource, key.Name, err)
	}
	return err
}

func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// versionOf returns a resource version as a number: it is one wherever we store.
func versionOf(version string) uint64 {
	number, _ := strconv.ParseUint(version, 10, 64)
	return number
}
