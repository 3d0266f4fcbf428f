package view

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/internal/catalog/structural"
)

// Form is how one version of one definition sees objects. It is immutable.
type Form struct {
	// Kind is the kind and version of what callers see.
	Kind schema.GroupVersionKind
	// StorageVersion is the version objects are stored in.
	StorageVersion string
	// Schemas prune and default. Nil means that objects of any version and content are
	// shown, as they are but for the name of their version.
	Schemas *structural.Schemas
	// Convert turns objects, none of which is in that version, into another version and
	// returns them in the same order. It may change and return what it is given. Nil
	// means that versions differ in nothing but their name.
	Convert func(objects []*unstructured.Unstructured, to schema.GroupVersion) ([]*unstructured.Unstructured, error)
	// Asks says that Convert asks a server, which makes it worth while to give it what has
	// gathered behind a watch.
	Asks bool
	// Readable are versions that all that is stored has to be convertible to: what is not is
	// refused when it is written. It would be in the way of all others when they are
	// listed, and those may be other workspaces'.
	Readable []string
	// AsStored makes objects keep the version they are stored in, both ways.
	AsStored bool
	// Annotate, if set, is called with each object on the way out, before its version
	// is changed, and returns annotations to add.
	Annotate func(u *unstructured.Unstructured) map[string]string
	// Show, if set, is called with each object first, and returns what is shown of it. It
	// must not change the object, and what it returns may share memory with it.
	Show func(u *unstructured.Unstructured) *unstructured.Unstructured
}

// out returns stored as callers see it. It may change and return stored if isOwned;
// otherwise stored shares memory with others.
func (f *Form) out(stored runtime.Object, isOwned bool) (*unstructured.Unstructured, error) {
	u, isOwned, err := f.read(stored, isOwned)
	if err != nil || len(u.Object) == 0 {
		// The zero object that a read returns where not found is ignored.
		return u, err
	}
	return f.convert(u, f.Kind.GroupVersion(), isOwned)
}

// read returns stored pruned, defaulted and annotated, in the version it is stored in.
func (f *Form) read(stored runtime.Object, isOwned bool) (*unstructured.Unstructured, bool, error) {
	u, isOwned, err := f.content(stored, isOwned)
	if err != nil || len(u.Object) == 0 {
		return u, isOwned, err
	}
	if f.Show != nil {
		u = f.Show(u)
	}
	if extra := f.annotations(u); len(extra) > 0 {
		if !isOwned {
			u, isOwned = u.DeepCopy(), true
		}
		addAnnotations(u, extra)
	}
	return f.normalize(u, isOwned)
}

// normalize prunes and defaults u by the schema of the version it is stored in.
func (f *Form) normalize(u *unstructured.Unstructured, isOwned bool) (*unstructured.Unstructured, bool, error) {
	if f.Schemas == nil {
		return u, isOwned, nil
	}
	version := u.GroupVersionKind().Version
	if f.Schemas.Version(version) == nil {
		return nil, false, fmt.Errorf("%w: %s", errUnknownVersion, u.GetAPIVersion())
	}
	if f.Schemas.Unchanged(version, u.Object) {
		return u, isOwned, nil
	}
	if !isOwned {
		u = u.DeepCopy()
	}
	if _, err := f.Schemas.Coerce(u, structural.Options{Repair: true}); err != nil {
		return nil, false, fmt.Errorf("reading stored object: %w", err)
	}
	f.Schemas.Default(u)
	return u, true, nil
}

// content returns stored as an unstructured object.
func (f *Form) content(stored runtime.Object, isOwned bool) (*unstructured.Unstructured, bool, error) {
	if u, ok := stored.(*unstructured.Unstructured); ok {
		return u, isOwned, nil
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(stored)
	if err != nil {
		return nil, false, fmt.Errorf("showing %T as unstructured: %w", stored, err)
	}
	u := &unstructured.Unstructured{Object: content}
	// Decoded Go types need not carry their kind. They are stored in one version.
	u.SetGroupVersionKind(f.Kind.GroupKind().WithVersion(f.StorageVersion))
	return u, true, nil
}

// in returns u as it is to be stored, in the Go type that newObject makes. before is what
// has been stored so far, if that matters. It does not change u.
func (f *Form) in(u, before *unstructured.Unstructured, newObject func() runtime.Object) (runtime.Object, error) {
	converted, err := f.acceptChange(u, before)
	if err != nil {
		return nil, refuse(err)
	}
	object := newObject()
	if _, ok := object.(*unstructured.Unstructured); ok {
		return converted, nil
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(converted.Object, object); err != nil {
		return nil, fmt.Errorf("storing as %T: %w", object, err)
	}
	return object, nil
}

func (f *Form) annotations(u *unstructured.Unstructured) map[string]string {
	if f.Annotate == nil {
		return nil
	}
	return f.Annotate(u)
}

func addAnnotations(u *unstructured.Unstructured, extra map[string]string) {
	annotations := u.GetAnnotations()
	if annotations == nil {
		annotations = make(map[string]string, len(extra))
	}
	for key, value := range extra {
		annotations[key] = value
	}
	u.SetAnnotations(annotations)
}

// bookmark returns a bookmark, which has a resource version and perhaps annotations
// and nothing else, as one of callers' kind.
func (f *Form) bookmark(stored runtime.Object) (*unstructured.Unstructured, error) {
	accessor, err := meta.Accessor(stored)
	if err != nil {
		return nil, fmt.Errorf("reading bookmark: %w", err)
	}
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(f.Kind)
	u.SetResourceVersion(accessor.GetResourceVersion())
	if annotations := accessor.GetAnnotations(); len(annotations) > 0 {
		u.SetAnnotations(annotations)
	}
	return u, nil
}
