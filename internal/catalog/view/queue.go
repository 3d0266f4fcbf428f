package view

import (
	"sync"

	"k8s.io/apimachinery/pkg/watch"
)

const (
	// maxWaiting is how many events may wait to be converted. A watch that is further
	// behind ends, and is begun anew by its client.
	maxWaiting = 20_000
	// maxConverted is how many are converted together.
	maxConverted = 500
)

// queue holds the events of a watch that wait to be converted. The watch cache, which
// all clusters have in common, waits a little for watchers that do not take their events;
// one that waits for somebody's webhook must not be among them. Events that gather while
// others are being converted are converted together.
type queue struct {
	// filled has something in it if there is something to take or no more to come.
	filled chan struct{}

	mu     sync.Mutex
	events []watch.Event
	ended  bool
}

func newQueue() *queue { return &queue{filled: make(chan struct{}, 1)} }

// fill puts the events of a watch into the queue until it ends, or is too far ahead.
func (q *queue) fill(from watch.Interface) {
	for event := range from.ResultChan() {
		if !q.put(event) {
			from.Stop()
			break
		}
	}
	q.mu.Lock()
	q.ended = true
	q.mu.Unlock()
	q.wake()
}

// put adds an event. It returns false if there is no room for more.
func (q *queue) put(event watch.Event) bool {
	q.mu.Lock()
	q.events = append(q.events, event)
	room := len(q.events) < maxWaiting
	q.mu.Unlock()
	q.wake()
	return room
}

func (q *queue) wake() {
	select {
	case q.filled <- struct{}{}:
	default:
	}
}

// take waits for events and returns some, in order; nothing if there are no more or done
// is closed.
func (q *queue) take(done <-chan struct{}) []watch.Event {
	for {
		if events, ended := q.first(); len(events) > 0 || ended {
			return events
		}
		select {
		case <-q.filled:
		case <-done:
			return nil
		}
	}
}

func (q *queue) first() (events []watch.Event, ended bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	count := min(len(q.events), maxConverted)
	events = q.events[:count:count]
	if q.events = q.events[count:]; len(q.events) == 0 {
		q.events = nil
	}
	return events, q.ended
}
