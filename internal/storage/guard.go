package storage

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/storage"

	"github.com/forkless/kcp/internal/permissionclaims"
)

// guardFor returns the guard that bounds what may be seen of the resource, nil if all may.
func (s *store) guardFor(ctx context.Context) *permissionclaims.Guard {
	guard := permissionclaims.GuardFrom(ctx)
	if guard == nil || guard.Resource() != s.resource.GroupResource {
		return nil
	}
	return guard
}

// withoutGuard returns ctx for what the server reads for itself.
func withoutGuard(ctx context.Context) context.Context {
	if permissionclaims.GuardFrom(ctx) == nil {
		return ctx
	}
	return permissionclaims.WithGuard(ctx, nil)
}

// visible returns a NotFound error for an object that guard does not let be seen.
func visible(guard *permissionclaims.Guard, key string, obj runtime.Object) error {
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return storage.NewInternalError(err)
	}
	if !guard.Sees(accessor.GetLabels()) {
		return storage.NewKeyNotFoundError(key, 0)
	}
	return nil
}

// guardedGet is Get where not everything may be seen.
func (s *store) guardedGet(ctx context.Context, guard *permissionclaims.Guard, key string, opts storage.GetOptions, out runtime.Object) error {
	err := s.Interface.Get(ctx, key, storage.GetOptions{ResourceVersion: opts.ResourceVersion}, out)
	if err == nil {
		err = visible(guard, key, out)
	}
	if err == nil {
		return nil
	}
	if err := runtime.SetZeroValue(out); err != nil {
		return err
	}
	if storage.IsNotFound(err) && opts.IgnoreNotFound {
		return nil
	}
	return err
}

// guardedUpdate returns the arguments of a GuaranteedUpdate that finds an object that may
// not be seen not to be there. This is decided on the object that is replaced, before
// anything else is: what preconditions or patches have against it would tell what it is.
func guardedUpdate(guard *permissionclaims.Guard, key string, preconditions *storage.Preconditions, update storage.UpdateFunc) (*storage.Preconditions, storage.UpdateFunc) {
	return nil, func(input runtime.Object, response storage.ResponseMeta) (runtime.Object, *uint64, error) {
		if response.ResourceVersion != 0 {
			if err := visible(guard, key, input); err != nil {
				return nil, nil, err
			}
		}
		if err := preconditions.Check(key, input); err != nil {
			return nil, nil, err
		}
		return update(input, response)
	}
}

// guardedDelete does the same for a Delete. An object that cannot be read is not deleted
// by who may see some only.
func guardedDelete(guard *permissionclaims.Guard, key string, preconditions *storage.Preconditions, validate storage.ValidateObjectFunc) (*storage.Preconditions, storage.ValidateObjectFunc) {
	return nil, func(ctx context.Context, obj runtime.Object) error {
		if obj == nil {
			return storage.NewKeyNotFoundError(key, 0)
		}
		if err := visible(guard, key, obj); err != nil {
			return err
		}
		if err := preconditions.Check(key, obj); err != nil {
			return err
		}
		return validate(ctx, obj)
	}
}
