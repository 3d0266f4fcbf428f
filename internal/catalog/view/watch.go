package view

import (
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// shownWatch shows the events of a watch on a shared store as a form sees them. Its
// one goroutine ends with the watch.
type shownWatch struct {
	stored watch.Interface
	form   *Form
	result chan watch.Event
	done   chan struct{}
	stop   sync.Once
}

func newWatch(stored watch.Interface, form *Form) *shownWatch {
	w := &shownWatch{
		stored: stored,
		form:   form,
		result: make(chan watch.Event),
		done:   make(chan struct{}),
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
	for event := range w.stored.ResultChan() {
		shown, ok := w.show(event)
		select {
		case w.result <- shown:
		case <-w.done:
			return
		}
		if !ok {
			return
		}
	}
}

// show returns event as the form sees it. ok is false if the object cannot be shown:
// the watch ends with an error event, as upstream's does with an object it cannot decode.
func (w *shownWatch) show(event watch.Event) (shown watch.Event, ok bool) {
	var err error
	switch event.Type {
	case watch.Error:
		return event, true
	case watch.Bookmark:
		event.Object, err = w.form.bookmark(event.Object)
	default:
		object, isOwned := event.Object, false
		// The cacher wraps events for several watchers, to encode them once. What is
		// inside can only be had as a copy.
		if cached, isCached := object.(runtime.CacheableObject); isCached {
			object, isOwned = cached.GetObject(), true
		}
		event.Object, err = w.form.out(object, isOwned)
	}
	if err != nil {
		status := apierrors.NewInternalError(err).Status()
		return watch.Event{Type: watch.Error, Object: &status}, false
	}
	return event, true
}
