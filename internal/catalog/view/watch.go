package view

import (
	"fmt"
	"runtime/debug"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/klog/v2"
)

// shownWatch shows the events of a watch on a shared store as a form sees them. Its
// goroutines, one or, where a server is asked to convert objects, two, end with the watch.
type shownWatch struct {
	stored watch.Interface
	form   *Form
	// selected, if set, says which events are seen.
	selected *selection
	result   chan watch.Event
	done     chan struct{}
	stop     sync.Once
}

func newWatch(stored watch.Interface, form *Form, selected *selection) *shownWatch {
	w := &shownWatch{
		stored:   stored,
		form:     form,
		selected: selected,
		result:   make(chan watch.Event),
		done:     make(chan struct{}),
	}
	go w.run()
	return w
}

// ResultChan returns the channel of events.
func (w *shownWatch) ResultChan() <-chan watch.Event { return w.result }

// Stop ends the watch.
func (w *shownWatch) Stop() {
	w.stop.Do(func() {
		close(w.done)
		w.stored.Stop()
	})
}

func (w *shownWatch) run() {
	defer close(w.result)
	defer w.stored.Stop()
	next := w.nextEvent
	if w.form.Asks {
		waiting := newQueue()
		go waiting.fill(w.stored)
		next = func() []watch.Event { return waiting.take(w.done) }
	}
	for events := next(); len(events) > 0; events = next() {
		shown, ok := w.show(events)
		if !w.send(shown) || !ok {
			return
		}
	}
}

// nextEvent returns the next event, nothing if there is none.
func (w *shownWatch) nextEvent() []watch.Event {
	event, ok := <-w.stored.ResultChan()
	if !ok {
		return nil
	}
	return []watch.Event{event}
}

// send hands on what is selected of events. It returns false if the watch is stopped.
func (w *shownWatch) send(events []watch.Event) bool {
	for _, event := range events {
		if w.selected != nil {
			var seen bool
			if event, seen = w.selected.apply(event); !seen {
				continue
			}
		}
		select {
		case w.result <- event:
		case <-w.done:
			return false
		}
	}
	return true
}

// show returns events as the form sees them. ok is false if an object cannot be shown:
// the watch ends with an error event, as upstream's does with an object it cannot decode.
func (w *shownWatch) show(events []watch.Event) (shown []watch.Event, ok bool) {
	shown, err := w.convert(events)
	if err == nil {
		return shown, true
	}
	if len(events) == 1 {
		status := apierrors.NewInternalError(err).Status()
		return []watch.Event{{Type: watch.Error, Object: &status}}, false
	}
	// What comes before the one that cannot be shown is told.
	for _, event := range events {
		one, ok := w.show([]watch.Event{event})
		shown = append(shown, one...)
		if !ok {
			return shown, false
		}
	}
	return shown, true
}

// convert returns events as the form sees them, or an error if there is one whose
// object cannot be shown. What a webhook has answered is part of it, and there is no
// handler above to catch a panic, which would end the process.
func (w *shownWatch) convert(events []watch.Event) (_ []watch.Event, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
			klog.Background().Error(err, "showing objects to a watch", "kind", w.form.Kind, "stack", string(debug.Stack()))
		}
	}()
	shown := make([]watch.Event, len(events))
	objects := batch{form: w.form}
	var at []int
	for i, event := range events {
		shown[i] = event
		switch event.Type {
		case watch.Error:
		case watch.Bookmark:
			bookmark, err := w.form.bookmark(event.Object)
			if err != nil {
				return nil, err
			}
			shown[i].Object = bookmark
		default:
			object, isOwned := event.Object, false
			// The cacher wraps events for several watchers, to encode them once. What is
			// inside can only be had as a copy.
			if cached, isCached := object.(runtime.CacheableObject); isCached {
				object, isOwned = cached.GetObject(), true
			}
			if err := objects.add(object, isOwned); err != nil {
				return nil, err
			}
			at = append(at, i)
		}
	}
	converted, err := objects.out()
	if err != nil {
		return nil, err
	}
	for i, object := range converted {
		shown[at[i]].Object = object
	}
	return shown, nil
}
