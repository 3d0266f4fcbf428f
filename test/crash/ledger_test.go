package crash

import (
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// object names an object.
type object struct {
	workspace       string
	resource        schema.GroupVersionResource
	namespace, name string
}

// String returns the name as messages have it.
func (o object) String() string {
	return strings.Join([]string{o.workspace, o.resource.Resource, o.namespace, o.name}, "/")
}

// entry is what is known of an object. What was tried and not acknowledged may have
// happened or not.
type entry struct {
	// exists says that the creation was acknowledged, and gone that the deletion was.
	// With neither nothing is known.
	exists, gone bool
	uid          types.UID
	// acknowledged and tried are the last values that were written.
	acknowledged, tried int
}

// ledger is what the clients know to be true. It is safe for concurrent use.
type ledger struct {
	mu      sync.Mutex
	entries map[object]entry
	// left is how many acknowledgements there are to come before reached is closed.
	left    int
	reached chan struct{}
}

func newLedger() *ledger { return &ledger{entries: map[object]entry{}} }

// await returns a channel that is closed after some more acknowledgements.
func (l *ledger) await(acknowledgements int) <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.left, l.reached = acknowledgements, make(chan struct{})
	return l.reached
}

// note changes the entry of an object before a write is tried, when nothing is certain.
func (l *ledger) note(o object, change func(*entry)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.entries[o]
	change(&e)
	l.entries[o] = e
}

// acknowledge is note for what the server has acknowledged.
func (l *ledger) acknowledge(o object, change func(*entry)) {
	l.note(o, change)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.left--; l.left == 0 {
		close(l.reached)
	}
}

// forget drops what is known of the content of a workspace, which is about to go.
func (l *ledger) forget(workspace string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for o := range l.entries {
		if o.workspace == workspace || strings.HasPrefix(o.workspace, workspace+":") {
			delete(l.entries, o)
		}
	}
}

// all returns a copy of everything.
func (l *ledger) all() map[object]entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	entries := make(map[object]entry, len(l.entries))
	for o, e := range l.entries {
		entries[o] = e
	}
	return entries
}
