package catalog

import (
	"context"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"
)

// reopenable is a store that can be replaced by a newly opened one, so that those who
// hold it need not know. Requests under way finish on the old one.
type reopenable struct {
	current atomic.Pointer[storage.Interface]
}

var _ storage.Interface = (*reopenable)(nil)

func newReopenable(store storage.Interface) *reopenable {
	r := &reopenable{}
	r.set(store)
	return r
}

func (r *reopenable) set(store storage.Interface) { r.current.Store(&store) }

func (r *reopenable) store() storage.Interface { return *r.current.Load() }

// Versioner implements storage.Interface.
func (r *reopenable) Versioner() storage.Versioner { return r.store().Versioner() }

// Create implements storage.Interface.
func (r *reopenable) Create(ctx context.Context, key string, obj, out runtime.Object, ttl uint64) error {
	return r.store().Create(ctx, key, obj, out, ttl)
}

// Delete implements storage.Interface.
func (r *reopenable) Delete(ctx context.Context, key string, out runtime.Object, preconditions *storage.Preconditions,
	validate storage.ValidateObjectFunc, cached runtime.Object, opts storage.DeleteOptions,
) error {
	return r.store().Delete(ctx, key, out, preconditions, validate, cached, opts)
}

// Watch implements storage.Interface.
func (r *reopenable) Watch(ctx context.Context, key string, opts storage.ListOptions) (watch.Interface, error) {
	return r.store().Watch(ctx, key, opts)
}

// Get implements storage.Interface.
func (r *reopenable) Get(ctx context.Context, key string, opts storage.GetOptions, out runtime.Object) error {
	return r.store().Get(ctx, key, opts, out)
}

// GetList implements storage.Interface.
func (r *reopenable) GetList(ctx context.Context, key string, opts storage.ListOptions, list runtime.Object) error {
	return r.store().GetList(ctx, key, opts, list)
}

// GuaranteedUpdate implements storage.Interface.
func (r *reopenable) GuaranteedUpdate(ctx context.Context, key string, out runtime.Object, ignoreNotFound bool,
	preconditions *storage.Preconditions, tryUpdate storage.UpdateFunc, cached runtime.Object,
) error {
	return r.store().GuaranteedUpdate(ctx, key, out, ignoreNotFound, preconditions, tryUpdate, cached)
}

// Stats implements storage.Interface.
func (r *reopenable) Stats(ctx context.Context) (storage.Stats, error) { return r.store().Stats(ctx) }

// ReadinessCheck implements storage.Interface.
func (r *reopenable) ReadinessCheck() error { return r.store().ReadinessCheck() }

// RequestWatchProgress implements storage.Interface.
func (r *reopenable) RequestWatchProgress(ctx context.Context) error {
	return r.store().RequestWatchProgress(ctx)
}

// GetCurrentResourceVersion implements storage.Interface.
func (r *reopenable) GetCurrentResourceVersion(ctx context.Context) (uint64, error) {
	return r.store().GetCurrentResourceVersion(ctx)
}

// EnableResourceSizeEstimation implements storage.Interface.
func (r *reopenable) EnableResourceSizeEstimation(keys storage.KeysFunc) error {
	return r.store().EnableResourceSizeEstimation(keys)
}

// CompactRevision implements storage.Interface.
func (r *reopenable) CompactRevision() int64 { return r.store().CompactRevision() }
