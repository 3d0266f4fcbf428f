package apibinding

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/internal/binding"
	"github.com/forkless/kcp/internal/catalog"
	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/storage/cached"
	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// lookAgain is how often it is looked whether instances with finalizers have gone.
const lookAgain = 500 * time.Millisecond

// end takes a binding that is being deleted one step further.
func (r *reconciler) end(ctx context.Context, key controller.Key, b *apisv1alpha2.APIBinding) error {
	// No more can be created, so that what is counted is all.
	r.Catalog.Bind(key.Cluster, key.Name, versionOf(b.ResourceVersion), r.served(b, r.definitionOf(ctx)))
	if !slices.Contains(b.Finalizers, apisv1alpha1.APIBindingFinalizer) {
		return nil
	}
	heirs, err := r.heirs(ctx, key, b)
	if err != nil {
		return err
	}
	in := binding.Ending{Binding: b, Now: r.now()}
	in.Remaining, in.Err = r.removeInstances(ctx, key.Cluster, b, heirs)
	wanted, done := binding.DecideEnd(in)
	switch {
	case done:
		return asConflict(r.release(ctx, key, b, heirs), key)
	case wanted != b:
		batch := r.Layer.NewBatch()
		batch.Update(cached.APIBindings, key.Cluster, wanted)
		if err := batch.Commit(ctx); err != nil {
			return errors.Join(in.Err, asConflict(err, key))
		}
	}
	if in.Err != nil {
		return in.Err
	}
	return controller.After(lookAgain)
}

// heirs are the bindings that take over what another has bound, by resource.
type heirs map[apischema.GroupResource]heir

type heir struct {
	*apisv1alpha2.APIBinding
	// export is where its export is.
	export logicalcluster.Name
}

// heirs returns the bindings that take over what b has bound.
func (r *reconciler) heirs(ctx context.Context, key controller.Key, b *apisv1alpha2.APIBinding) (heirs, error) {
	others, err := r.APIs.CurrentBindings(ctx, key.Cluster)
	if err != nil {
		return nil, err
	}
	all := heirs{}
	for i := range others {
		other := &others[i]
		if other.Name == b.Name || !other.DeletionTimestamp.IsZero() {
			continue
		}
		export, err := r.export(ctx, key.Cluster, other, map[string]offered{})
		if err != nil {
			return nil, err
		}
		for _, bound := range b.Status.BoundResources {
			resource := apischema.GroupResource{Group: bound.Group, Resource: bound.Resource}
			if _, found := all[resource]; !found && binding.Inherits(other, export, bound) {
				all[resource] = heir{other, export.Cluster}
			}
		}
	}
	return all, nil
}

// removeInstances asks all instances of what b has bound to go, but for what passes to
// heirs, and returns what is left.
func (r *reconciler) removeInstances(ctx context.Context, cluster logicalcluster.Name, b *apisv1alpha2.APIBinding, heirs heirs) (map[apischema.GroupResource]binding.Remaining, error) {
	remaining := map[apischema.GroupResource]binding.Remaining{}
	for _, served := range r.served(b, r.definitionOf(ctx)) {
		resource := served.Definition.GroupResource()
		if _, inherited := heirs[resource]; inherited {
			continue
		}
		left, err := r.Catalog.BoundInstances(ctx, cluster, served.Definition, served.Identity)
		if err == nil && len(left) > 0 {
			if err = r.Catalog.DeleteBoundInstances(ctx, cluster, served.Definition, served.Identity); err == nil {
				left, err = r.Catalog.BoundInstances(ctx, cluster, served.Definition, served.Identity)
			}
		}
		if err != nil {
			return remaining, fmt.Errorf("%s: %w", resource, err)
		}
		remaining[resource] = count(left)
	}
	return remaining, nil
}

func count(instances []catalog.Instance) binding.Remaining {
	remaining := binding.Remaining{Instances: len(instances), Finalizers: map[string]int{}}
	for _, instance := range instances {
		for _, finalizer := range instance.Finalizers {
			remaining.Finalizers[finalizer]++
		}
	}
	return remaining
}

// release lets a binding go whose instances are gone, with its locks, and gives what passes
// to others to these.
func (r *reconciler) release(ctx context.Context, key controller.Key, b *apisv1alpha2.APIBinding, heirs heirs) error {
	defer r.Locks.Lock(key.Cluster)()
	batch := r.Layer.NewBatch()
	inherited := r.inherit(key, b, heirs)
	for _, heir := range inherited {
		batch.Update(cached.APIBindings, key.Cluster, heir)
	}
	if err := r.addRelease(ctx, batch, key, b, inherited); err != nil {
		return err
	}
	if err := r.addPurge(ctx, batch, key, b, heirs); err != nil {
		return err
	}
	wanted := b.DeepCopy()
	wanted.Finalizers = slices.DeleteFunc(wanted.Finalizers, func(f string) bool { return f == apisv1alpha1.APIBindingFinalizer })
	wanted.Status.BoundResources = nil
	if len(wanted.Finalizers) == 0 {
		batch.Delete(cached.APIBindings, key.Cluster, b)
	} else {
		batch.Update(cached.APIBindings, key.Cluster, wanted)
	}
	if err := batch.Commit(ctx); err != nil {
		return err
	}
	for _, heir := range inherited {
		r.Catalog.Bind(key.Cluster, heir.Name, versionOf(batch.ResourceVersion()), r.served(heir, r.definitionOf(ctx)))
	}
	r.Catalog.Unbind(key.Cluster, key.Name)
	return r.freed(ctx, key.Cluster, b)
}

// purges is how many resources are purged at a time. The rest of a transaction is for the
// binding and its heirs.
const purges = storage.MaxBatch / 2

// addPurge adds to batch that nothing is left of what b gave, which is what a request has
// created that was let in before the binding was deleted. More than fits into one
// transaction is purged before it.
func (r *reconciler) addPurge(ctx context.Context, batch *storage.Batch, key controller.Key, b *apisv1alpha2.APIBinding, heirs heirs) error {
	var resources []storage.Resource
	for _, served := range r.served(b, r.definitionOf(ctx)) {
		resource := served.Definition.GroupResource()
		if _, inherited := heirs[resource]; !inherited && served.Identity != "" {
			resources = append(resources, storage.Resource{GroupResource: resource, Identity: served.Identity})
		}
	}
	for len(resources) > purges {
		first := r.Layer.NewBatch()
		first.Purge(key.Cluster, resources[:purges]...)
		if err := first.Commit(ctx); err != nil {
			return err
		}
		resources = resources[purges:]
	}
	batch.Purge(key.Cluster, resources...)
	return nil
}

// inherit returns the heirs as they are with what they take over.
func (r *reconciler) inherit(key controller.Key, b *apisv1alpha2.APIBinding, heirs heirs) map[string]*apisv1alpha2.APIBinding {
	inherited := map[string]*apisv1alpha2.APIBinding{}
	for _, bound := range b.Status.BoundResources {
		heir, ok := heirs[apischema.GroupResource{Group: bound.Group, Resource: bound.Resource}]
		if !ok {
			continue
		}
		before := heir.APIBinding
		if inherited[heir.Name] != nil {
			before = inherited[heir.Name]
		}
		inherited[heir.Name] = binding.Inherit(before, heir.export, bound)
		r.enqueue(controller.Key{Cluster: key.Cluster, Name: heir.Name})
	}
	return inherited
}

// addRelease adds to batch that the LogicalCluster knows no more of b, and knows the heirs.
func (r *reconciler) addRelease(ctx context.Context, batch *storage.Batch, key controller.Key, b *apisv1alpha2.APIBinding,
	inherited map[string]*apisv1alpha2.APIBinding,
) error {
	lc, err := r.Clusters.GetCurrent(ctx, key.Cluster)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	locks := binding.LocksOf(lc).Without(binding.Lock{Binding: b.Name})
	for _, heir := range inherited {
		for _, bound := range heir.Status.BoundResources {
			locks = locks.With(binding.Lock{Binding: heir.Name}, apischema.GroupResource{Group: bound.Group, Resource: bound.Resource})
		}
	}
	if wanted := binding.WithLocks(lc, locks); wanted != lc {
		batch.Update(cached.LogicalClusters, key.Cluster, wanted)
	}
	return nil
}

// freed tells who waits for it that the groups of what b had bound have names to give.
func (r *reconciler) freed(ctx context.Context, cluster logicalcluster.Name, b *apisv1alpha2.APIBinding) error {
	var told []string
	for _, bound := range b.Status.BoundResources {
		if slices.Contains(told, bound.Group) {
			continue
		}
		told = append(told, bound.Group)
		if err := r.Freed(ctx, cluster, bound.Group); err != nil {
			return err
		}
	}
	return nil
}
