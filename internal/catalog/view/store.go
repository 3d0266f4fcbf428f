package view

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"
)

// Shared is the store below a view.
type Shared struct {
	storage.Interface
	// New and NewList make empty objects and lists of the type the store holds.
	New, NewList func() runtime.Object
	// Attrs returns by what stored objects can be selected.
	Attrs storage.AttrFunc
	// Late, if set, says whether the objects in the cluster of ctx can be selected by
	// field only since after they came into the watch cache, which then does not know
	// their values of it.
	Late func(ctx context.Context, field string) bool
}

// Store is a shared store as a Form sees it.
type Store struct {
	storage.Interface
	shared *Shared
	form   *Form
}

var _ storage.Interface = (*Store)(nil)

// New returns shared as form sees it.
func New(shared *Shared, form *Form) *Store {
	return &Store{Interface: shared.Interface, shared: shared, form: form}
}

// Create stores obj and sets out to what has been stored.
func (s *Store) Create(ctx context.Context, key string, obj, out runtime.Object, ttl uint64) error {
	object, err := asUnstructured(obj)
	if err != nil {
		return err
	}
	in, err := s.form.in(object, nil, s.shared.New)
	if err != nil {
		return err
	}
	stored := s.shared.New()
	if err := s.shared.Create(ctx, key, in, stored, ttl); err != nil {
		return err
	}
	return s.set(out, stored, true)
}

// Get reads one object.
func (s *Store) Get(ctx context.Context, key string, opts storage.GetOptions, out runtime.Object) error {
	stored := s.shared.New()
	if err := s.shared.Get(ctx, key, opts, stored); err != nil {
		return err
	}
	// It may have been served from the watch cache.
	return s.set(out, stored, false)
}

// Delete removes one object. The suggestion of a cached object is not handed on: it
// is not in the form that is stored, and the watch cache below makes its own.
func (s *Store) Delete(ctx context.Context, key string, out runtime.Object, preconditions *storage.Preconditions,
	validate storage.ValidateObjectFunc, _ runtime.Object, opts storage.DeleteOptions,
) error {
	validateStored := func(ctx context.Context, stored runtime.Object) error {
		if stored == nil {
			// The object cannot be decoded and is deleted unseen.
			return validate(ctx, nil)
		}
		object, err := s.form.out(stored, false)
		if err != nil {
			return err
		}
		return validate(ctx, object)
	}
	stored := s.shared.New()
	if err := s.shared.Delete(ctx, key, stored, preconditions, validateStored, nil, opts); err != nil {
		return err
	}
	return s.set(out, stored, true)
}

// GuaranteedUpdate changes one object. As in Delete, the suggestion is not handed on.
func (s *Store) GuaranteedUpdate(ctx context.Context, key string, out runtime.Object, ignoreNotFound bool,
	preconditions *storage.Preconditions, tryUpdate storage.UpdateFunc, _ runtime.Object,
) error {
	updateStored := func(stored runtime.Object, response storage.ResponseMeta) (runtime.Object, *uint64, error) {
		before := s.form.before(stored)
		object, err := s.form.out(stored, true)
		if err != nil {
			return nil, nil, err
		}
		updated, ttl, err := tryUpdate(object, response)
		if err != nil {
			return nil, nil, err
		}
		updatedObject, err := asUnstructured(updated)
		if err != nil {
			return nil, nil, err
		}
		in, err := s.form.in(updatedObject, before, s.shared.New)
		return in, ttl, err
	}
	stored := s.shared.New()
	if err := s.shared.GuaranteedUpdate(ctx, key, stored, ignoreNotFound, preconditions, updateStored, nil); err != nil {
		return err
	}
	return s.set(out, stored, true)
}

// GetList reads a list. Its items share memory with the watch cache and must not be
// changed.
func (s *Store) GetList(ctx context.Context, key string, opts storage.ListOptions, out runtime.Object) error {
	list, ok := out.(*unstructured.UnstructuredList)
	if !ok {
		return fmt.Errorf("listing into %T instead of an unstructured list", out)
	}
	own := s.divide(ctx, &opts)
	stored := s.shared.NewList()
	if err := s.shared.GetList(ctx, key, opts, stored); err != nil {
		return err
	}
	if err := s.setItems(list, stored, own); err != nil {
		return err
	}
	from, err := meta.ListAccessor(stored)
	if err != nil {
		return err
	}
	list.SetResourceVersion(from.GetResourceVersion())
	list.SetContinue(from.GetContinue())
	list.SetRemainingItemCount(from.GetRemainingItemCount())
	return nil
}

func (s *Store) setItems(list *unstructured.UnstructuredList, stored runtime.Object, own fields.Selector) error {
	shown := batch{form: s.form, objects: make([]*unstructured.Unstructured, 0, meta.LenList(stored))}
	if err := meta.EachListItem(stored, func(item runtime.Object) error { return shown.add(item, false) }); err != nil {
		return err
	}
	objects, err := shown.out()
	if err != nil {
		return err
	}
	list.Items = make([]unstructured.Unstructured, 0, len(objects))
	for _, object := range objects {
		if own == nil || matches(own, object) {
			list.Items = append(list.Items, *object)
		}
	}
	return nil
}

// Watch watches objects. Those in the events share memory with the watch cache and
// must not be changed.
func (s *Store) Watch(ctx context.Context, key string, opts storage.ListOptions) (watch.Interface, error) {
	var selected *selection
	if own := s.divide(ctx, &opts); own != nil {
		var err error
		if selected, err = s.selection(ctx, key, own, &opts); err != nil {
			return nil, err
		}
	}
	stored, err := s.shared.Watch(ctx, key, opts)
	if err != nil {
		return nil, err
	}
	return newWatch(stored, s.form, selected), nil
}

// set makes out, which is the caller's, the object that stored shows.
func (s *Store) set(out, stored runtime.Object, isOwned bool) error {
	if out == nil {
		return nil
	}
	target, err := asUnstructured(out)
	if err != nil {
		return err
	}
	object, err := s.form.out(stored, isOwned)
	if err != nil {
		return err
	}
	target.Object = object.Object
	return nil
}

func asUnstructured(obj runtime.Object) (*unstructured.Unstructured, error) {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return nil, fmt.Errorf("%T is not an unstructured object", obj)
	}
	return u, nil
}
