package catalog

import (
	"context"
	"errors"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	apistorage "k8s.io/apiserver/pkg/storage"
)

// union is several stores of resources of one name, as one that can be listed and watched.
// The other methods are those of the first.
//
// All stores have their versions from one counter. A list of them is complete up to the
// last write to any of them before it began, and has that version: a watch that begins
// there may repeat what the list has, and misses nothing.
type union struct {
	apistorage.Interface
	parts []unionPart
	// lastWrite returns the version of the last write to any resource.
	lastWrite func() uint64
}

type unionPart struct {
	apistorage.Interface
	// prefix is what its keys begin with.
	prefix string
}

// key returns the key for part of what key is for the first.
func (u *union) key(part unionPart, key string) string {
	return part.prefix + strings.TrimPrefix(key, u.parts[0].prefix)
}

// GetList implements storage.Interface. Lists come as a whole, whatever their limit.
func (u *union) GetList(ctx context.Context, key string, opts apistorage.ListOptions, out runtime.Object) error {
	list, ok := out.(*unstructured.UnstructuredList)
	if !ok {
		return errors.New("several stores can only be listed as unstructured objects")
	}
	if opts.Predicate.Continue != "" {
		return apierrors.NewBadRequest("lists of several identities come as a whole: they cannot be continued")
	}
	opts.Predicate.Limit = 0
	atLeast := uint64(0)
	if opts.ResourceVersion == "" {
		atLeast = u.lastWrite()
	}
	least := versions{}
	for i, part := range u.parts {
		var items unstructured.UnstructuredList
		if err := part.GetList(ctx, u.key(part, key), opts, &items); err != nil {
			return err
		}
		list.Items = append(list.Items, items.Items...)
		least.set(i, parseVersion(items.GetResourceVersion()))
	}
	list.SetResourceVersion(formatVersion(max(atLeast, least.min(len(u.parts)))))
	return nil
}

// Watch implements storage.Interface.
func (u *union) Watch(ctx context.Context, key string, opts apistorage.ListOptions) (watch.Interface, error) {
	atLeast := uint64(0)
	if opts.ResourceVersion == "" {
		atLeast = u.lastWrite()
	}
	ctx, cancel := context.WithCancel(ctx)
	w := &unionWatch{end: cancel, result: make(chan watch.Event), atLeast: atLeast}
	heard := make(chan unionEvent)
	for i, part := range u.parts {
		events, err := part.Watch(ctx, u.key(part, key), opts)
		if err != nil {
			cancel()
			return nil, err
		}
		go forward(ctx, i, events, heard)
	}
	go w.run(ctx, heard, len(u.parts))
	return w, nil
}

// unionEvent is an event of a part. An event without a type says that its watch is over.
type unionEvent struct {
	part int
	watch.Event
}

// forward sends the events of a part until its watch ends or ctx does.
func forward(ctx context.Context, part int, events watch.Interface, to chan<- unionEvent) {
	defer events.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case event, ok := <-events.ResultChan():
			if !ok {
				event = watch.Event{}
			}
			select {
			case <-ctx.Done():
				return
			case to <- unionEvent{part: part, Event: event}:
			}
			if !ok {
				return
			}
		}
	}
}

// unionWatch is a watch of all parts, which ends with the first of theirs.
type unionWatch struct {
	end    context.CancelFunc
	result chan watch.Event
	// atLeast is the version that what exists in all parts is known at.
	atLeast uint64
	// begun are the parts that have told what existed when the watch began, each with the
	// version it was at; known are the versions up to which parts have told everything.
	begun, known versions
	bookmarked   uint64
}

// Stop implements watch.Interface.
func (w *unionWatch) Stop() { w.end() }

// ResultChan implements watch.Interface.
func (w *unionWatch) ResultChan() <-chan watch.Event { return w.result }

func (w *unionWatch) run(ctx context.Context, heard <-chan unionEvent, parts int) {
	defer close(w.result)
	defer w.end()
	for {
		var event unionEvent
		select {
		case <-ctx.Done():
			return
		case event = <-heard:
		}
		if event.Type == "" {
			return
		}
		told := event.Event
		if event.Type == watch.Bookmark {
			var ok bool
			if told, ok = w.bookmark(event, parts); !ok {
				continue
			}
		}
		select {
		case <-ctx.Done():
			return
		case w.result <- told:
		}
		if event.Type == watch.Error {
			return
		}
	}
}

// bookmark returns the bookmark to send when a part has sent one, if there is any: the
// client is only where the last of the parts is.
func (w *unionWatch) bookmark(event unionEvent, parts int) (watch.Event, bool) {
	accessor, err := meta.Accessor(event.Object)
	if err != nil {
		return watch.Event{}, false
	}
	version := parseVersion(accessor.GetResourceVersion())
	w.known.set(event.part, version)
	initial := accessor.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true"
	at := w.known.min(parts)
	if initial {
		w.begun.set(event.part, version)
		at = w.begun.min(parts)
		if at > 0 {
			at = max(at, w.atLeast)
		}
	}
	if at <= w.bookmarked {
		return watch.Event{}, false
	}
	w.bookmarked = at
	object := event.Object.DeepCopyObject()
	if accessor, err = meta.Accessor(object); err != nil {
		return watch.Event{}, false
	}
	accessor.SetResourceVersion(formatVersion(at))
	return watch.Event{Type: watch.Bookmark, Object: object}, true
}

// versions are those of parts, as far as they are known.
type versions map[int]uint64

func (v *versions) set(part int, version uint64) {
	if *v == nil {
		*v = versions{}
	}
	(*v)[part] = version
}

// min returns the least version of that many parts; 0 if there is one whose version is
// not known.
func (v versions) min(parts int) uint64 {
	if len(v) < parts {
		return 0
	}
	least := uint64(0)
	for _, version := range v {
		if least == 0 || version < least {
			least = version
		}
	}
	return least
}

// parseVersion returns a version that the server itself has made.
func parseVersion(version string) uint64 {
	parsed, err := strconv.ParseUint(version, 10, 64)
	if err != nil {
		return 0
	}
	return parsed
}

func formatVersion(version uint64) string { return strconv.FormatUint(version, 10) }
