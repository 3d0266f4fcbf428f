// Package removal deletes objects on the server's own behalf, whatever their resource,
// as a delete request would: what has finalizers is marked as deleted and waits for them,
// everything else goes at once. Admission is not asked.
package removal

import (
	"context"
	"errors"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apistorage "k8s.io/apiserver/pkg/storage"
	"k8s.io/utils/ptr"

	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Remover deletes objects in the open stores of a layer.
type Remover struct {
	Layer *storage.Layer
	// Now returns the time to write into deletion timestamps.
	Now func() time.Time
}

// Remove deletes obj, which was read from the store of resource in cluster, with
// background propagation. It does nothing if obj is being deleted already, has changed
// since, or is gone: whoever looks again sees what is left.
func (r Remover) Remove(ctx context.Context, cluster logicalcluster.Name, resource storage.Resource, obj runtime.Object) error {
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return err
	}
	if accessor.GetDeletionTimestamp() != nil {
		return nil
	}
	version := accessor.GetResourceVersion()
	err = r.Delete(ctx, cluster, resource, obj, metav1.DeletePropagationBackground, func(current metav1.Object) error {
		if current.GetResourceVersion() != version && len(current.GetFinalizers()) == 0 {
			return errChanged
		}
		return nil
	})
	if apistorage.IsNotFound(err) || apistorage.IsConflict(err) || apistorage.IsInvalidObj(err) || errors.Is(err, errChanged) {
		return nil
	}
	return err
}

var errChanged = errors.New("the object has changed")

// Delete deletes obj, which was read from the store of resource in cluster, as a request
// with this propagation would. Whether it still should is asked of check, with the object
// as it is stored; its error is returned. Errors of storage are returned as they are: one
// of NotFound if obj is gone, one of an invalid object if another has taken its name.
func (r Remover) Delete(ctx context.Context, cluster logicalcluster.Name, resource storage.Resource, obj runtime.Object,
	propagation metav1.DeletionPropagation, check func(current metav1.Object) error,
) error {
	o, err := r.open(ctx, cluster, resource, obj)
	if err != nil {
		return err
	}
	steps := [2]func() error{
		func() error { return o.remove(checkThat(check, propagation, false)) },
		func() error { return r.markDeleted(o, propagation, check) },
	}
	next := 0
	if accessor, err := meta.Accessor(obj); err == nil && held(obj, withPropagation(accessor.GetFinalizers(), propagation)) {
		next = 1
	}
	for {
		err := steps[next]()
		if !errors.Is(err, errHeld) && !errors.Is(err, errNotHeld) {
			return err
		}
		next = 1 - next
	}
}

// markDeleted marks an object as deleted that something holds.
func (r Remover) markDeleted(o object, propagation metav1.DeletionPropagation, check func(metav1.Object) error) error {
	checked := checkThat(check, propagation, true)
	return o.update(func(current runtime.Object, accessor metav1.Object) error {
		if err := checked(current, accessor); err != nil {
			return err
		}
		r.Mark(current, accessor, propagation)
		return nil
	})
}

// Mark makes of obj, whose metadata accessor are, what it is stored as when it is deleted
// with a propagation and held by something. It is for those who write it themselves.
func (r Remover) Mark(obj runtime.Object, accessor metav1.Object, propagation metav1.DeletionPropagation) {
	accessor.SetFinalizers(withPropagation(accessor.GetFinalizers(), propagation))
	r.mark(obj, accessor)
}

// checkThat returns a check that an object is, or is not, held when it is deleted with a
// propagation, and of what check wants beside.
func checkThat(check func(metav1.Object) error, propagation metav1.DeletionPropagation, isHeld bool) func(runtime.Object, metav1.Object) error {
	return func(current runtime.Object, accessor metav1.Object) error {
		switch {
		case held(current, withPropagation(accessor.GetFinalizers(), propagation)) == isHeld:
			return check(accessor)
		case isHeld:
			return errNotHeld
		default:
			return errHeld
		}
	}
}

// Finalize removes a finalizer from obj, which was read from the store of resource in
// cluster. An object that is being deleted goes with the last of them, unless keep is set.
func (r Remover) Finalize(ctx context.Context, cluster logicalcluster.Name, resource storage.Resource, obj runtime.Object,
	finalizer string, keep bool,
) error {
	o, err := r.open(ctx, cluster, resource, obj)
	if err != nil {
		return err
	}
	for {
		err := o.update(func(current runtime.Object, accessor metav1.Object) error {
			finalizers := without(accessor.GetFinalizers(), finalizer)
			if accessor.GetDeletionTimestamp() != nil && !held(current, finalizers) && !keep {
				return errNotHeld
			}
			accessor.SetFinalizers(finalizers)
			return nil
		})
		if !errors.Is(err, errNotHeld) {
			return err
		}
		err = o.remove(func(current runtime.Object, accessor metav1.Object) error {
			if accessor.GetDeletionTimestamp() == nil || held(current, without(accessor.GetFinalizers(), finalizer)) {
				return errHeld
			}
			return nil
		})
		if !errors.Is(err, errHeld) {
			return err
		}
	}
}

var (
	errHeld    = errors.New("the object is held by finalizers")
	errNotHeld = errors.New("nothing holds the object")
)

// mark sets the deletion timestamp.
func (r Remover) mark(obj runtime.Object, accessor metav1.Object) {
	if accessor.GetDeletionTimestamp() != nil {
		return
	}
	markContent(obj)
	accessor.SetDeletionTimestamp(ptr.To(metav1.NewTime(r.Now())))
	accessor.SetDeletionGracePeriodSeconds(ptr.To[int64](0))
	// As with a delete request: deleting is a change of what is wanted.
	if accessor.GetGeneration() > 0 {
		accessor.SetGeneration(accessor.GetGeneration() + 1)
	}
}

// withPropagation returns the finalizers of an object that is deleted with a propagation.
func withPropagation(finalizers []string, propagation metav1.DeletionPropagation) []string {
	kept := without(without(finalizers, metav1.FinalizerOrphanDependents), metav1.FinalizerDeleteDependents)
	switch propagation {
	case metav1.DeletePropagationOrphan:
		return append(kept, metav1.FinalizerOrphanDependents)
	case metav1.DeletePropagationForeground:
		return append(kept, metav1.FinalizerDeleteDependents)
	default:
		return kept
	}
}

func without(finalizers []string, finalizer string) []string {
	return slices.DeleteFunc(slices.Clone(finalizers), func(f string) bool { return f == finalizer })
}
