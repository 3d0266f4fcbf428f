package view

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"
)

// FieldValue returns the scalar at path as field selectors compare it, empty if there
// is none.
func FieldValue(u *unstructured.Unstructured, path string) string {
	value, found, err := unstructured.NestedFieldNoCopy(u.Object, strings.Split(path, ".")...)
	if err != nil || !found || value == nil {
		return ""
	}
	return fmt.Sprint(value)
}

// divide makes the predicate look at objects as they are stored, which is how the store
// below sees them, and takes from it what the store cannot tell. That is returned for
// the view to select by; nil if there is nothing.
//
// The store cannot tell what the fields of an object will be after it was converted, nor
// those it came by late.
func (s *Store) divide(ctx context.Context, opts *storage.ListOptions) (own fields.Selector) {
	opts.Predicate.GetAttrs = s.shared.Attrs
	selector := opts.Predicate.Field
	if selector == nil || selector.Empty() {
		return nil
	}
	isOwn := func(field string) bool {
		if strings.HasPrefix(field, "metadata.") {
			return false
		}
		return s.form.Convert != nil || s.shared.Late != nil && s.shared.Late(ctx, field)
	}
	below, own := only(selector, func(field string) bool { return !isOwn(field) }), only(selector, isOwn)
	if own.Empty() {
		return nil
	}
	opts.Predicate.Field = below
	// A page of what the store selects may have nothing that matches. A server may
	// answer with all there is instead of pages.
	opts.Predicate.Limit = 0
	return own
}

// only returns the requirements of selector for the fields that are wanted.
func only(selector fields.Selector, wanted func(field string) bool) fields.Selector {
	// The function returns no error, so there is none.
	part, _ := selector.Transform(func(field, value string) (string, string, error) {
		if !wanted(field) {
			// Upstream's way to drop a requirement.
			return "", "", nil
		}
		return field, value, nil
	})
	return part
}

func matches(selector fields.Selector, u *unstructured.Unstructured) bool {
	values := fields.Set{}
	for _, requirement := range selector.Requirements() {
		values[requirement.Field] = FieldValue(u, requirement.Field)
	}
	return selector.Matches(values)
}

// selection turns the events of all objects into those of the objects that match. It
// remembers which do: an event does not say what was before.
type selection struct {
	selector fields.Selector
	matching map[string]bool
}

// selection returns the selection for a watch. Where the watch does not begin by telling
// what exists, that is listed, and opts are changed to go on from there.
func (s *Store) selection(ctx context.Context, key string, own fields.Selector, opts *storage.ListOptions) (*selection, error) {
	selected := &selection{selector: own, matching: map[string]bool{}}
	unset := opts.ResourceVersion == "" || opts.ResourceVersion == "0"
	if opts.SendInitialEvents != nil && *opts.SendInitialEvents || opts.SendInitialEvents == nil && unset {
		return selected, nil
	}
	listing := storage.ListOptions{Recursive: opts.Recursive, Predicate: opts.Predicate}
	if !unset {
		listing.ResourceVersion, listing.ResourceVersionMatch = opts.ResourceVersion, metav1.ResourceVersionMatchExact
	}
	stored := s.shared.NewList()
	if err := s.shared.GetList(ctx, key, listing, stored); err != nil {
		return nil, err
	}
	list := &unstructured.UnstructuredList{}
	if err := s.setItems(list, stored, own); err != nil {
		return nil, err
	}
	for i := range list.Items {
		selected.matching[nameOf(&list.Items[i])] = true
	}
	if unset {
		accessor, err := meta.ListAccessor(stored)
		if err != nil {
			return nil, err
		}
		opts.ResourceVersion = accessor.GetResourceVersion()
	}
	return selected, nil
}

// apply returns event as those see it who watch what matches. ok is false if they do
// not see it. An object that stops to match is deleted for them; unlike upstream's, the
// event has what it is now and not what it was before.
func (s *selection) apply(event watch.Event) (seen watch.Event, ok bool) {
	u, isObject := event.Object.(*unstructured.Unstructured)
	if event.Type == watch.Error || event.Type == watch.Bookmark || !isObject {
		return event, true
	}
	name := nameOf(u)
	matched, matching := s.matching[name], event.Type != watch.Deleted && matches(s.selector, u)
	switch {
	case matching && matched:
		event.Type = watch.Modified
	case matching:
		event.Type = watch.Added
		s.matching[name] = true
	case matched:
		event.Type = watch.Deleted
		delete(s.matching, name)
	default:
		return event, false
	}
	return event, true
}

func nameOf(u *unstructured.Unstructured) string { return u.GetNamespace() + "/" + u.GetName() }
