package view

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/storage"
)

// errUnknownVersion says that an object is stored in a version that its definition does
// not have.
var errUnknownVersion = errors.New("object is stored in a version that its definition does not have")

// IsUnconvertible says whether err is one that an object gives rise to by what it is, and
// not by what is the matter at the moment: trying again is of no use until the object or
// its definition changes.
func IsUnconvertible(err error) bool {
	return errors.Is(err, errUnknownVersion) || isRefusable(err)
}

// Rewrite stores an object anew in the version that objects are stored in now, if it is
// stored in another one, and is still there. It changes nothing that any version shows but the resource
// version. The view has to be that of the storage version.
func (s *Store) Rewrite(ctx context.Context, key string) (rewritten bool, err error) {
	update := func(stored runtime.Object, _ storage.ResponseMeta) (runtime.Object, *uint64, error) {
		u, isUnstructured := stored.(*unstructured.Unstructured)
		if !isUnstructured || u.GroupVersionKind().Version == s.form.StorageVersion {
			// The store sees that nothing has changed and writes nothing.
			rewritten = false
			return stored, nil, nil
		}
		rewritten = true
		object, err := s.form.out(stored, true)
		if err != nil {
			return nil, nil, err
		}
		// What was readable stays so.
		object, err = s.form.accept(object)
		return object, nil, err
	}
	err = s.shared.GuaranteedUpdate(ctx, key, s.shared.New(), false, nil, update, nil)
	switch {
	case storage.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("storing in version %s: %w", s.form.StorageVersion, err)
	}
	return rewritten, nil
}
