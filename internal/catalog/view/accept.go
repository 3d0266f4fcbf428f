package view

import (
	"errors"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// refusable is an error of a conversion that is the fault of what is converted. Who reads
// it cannot help that; who writes it is told so.
type refusable interface{ Refusal() error }

// refuse returns an error as who writes an object is told.
func refuse(err error) error {
	var reason refusable
	if errors.As(err, &reason) {
		return reason.Refusal()
	}
	return err
}

func isRefusable(err error) bool {
	var reason refusable
	return errors.As(err, &reason)
}

// accept returns u, which it does not change, in the version that is stored, or an error if
// it could not be shown in all versions.
func (f *Form) accept(u *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	stored, err := f.convert(u, f.version(f.StorageVersion), false)
	if err != nil {
		return nil, err
	}
	for _, version := range f.Readable {
		if _, err := f.convert(stored, f.version(version), false); err != nil {
			return nil, err
		}
	}
	return stored, nil
}

// before returns what acceptChange needs to know of a stored object that is about to change.
func (f *Form) before(stored runtime.Object) *unstructured.Unstructured {
	u, ok := stored.(*unstructured.Unstructured)
	if !ok || len(f.Readable) == 0 {
		return nil
	}
	return u.DeepCopy()
}

// acceptChange is accept for u that was something before. One that was no better is
// accepted, and kept in its version if it cannot be converted: else there would be no way
// to take finalizers from it, and it could not be deleted.
func (f *Form) acceptChange(u, before *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	stored, refused := f.accept(u)
	if refused == nil || before == nil || !isRefusable(refused) {
		return stored, refused
	}
	version := before.GroupVersionKind().Version
	if !f.refuses(before) {
		return nil, refused
	}
	stored, err := f.convert(u, f.version(f.StorageVersion), false)
	if isRefusable(err) && version == f.Kind.Version {
		return u, nil
	}
	return stored, err
}

// refuses says whether a stored object, which may be changed, would not be accepted.
func (f *Form) refuses(stored *unstructured.Unstructured) bool {
	u, _, err := f.read(stored, true)
	if err != nil {
		return false
	}
	_, err = f.accept(u)
	return isRefusable(err)
}

func (f *Form) version(name string) schema.GroupVersion {
	return schema.GroupVersion{Group: f.Kind.Group, Version: name}
}
