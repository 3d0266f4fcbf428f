package permissionclaim

import (
	"maps"
	"slices"
	"sync"

	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/permissionclaims"
)

// changes are the claims of bindings whose objects have yet to be labeled. They are
// remembered until that is done, since the index tells of a change once.
type changes struct {
	mu sync.Mutex
	of map[controller.Key][]permissionclaims.Name
}

func newChanges() *changes { return &changes{of: map[controller.Key][]permissionclaims.Name{}} }

func (c *changes) add(binding controller.Key, names []permissionclaims.Name) {
	if len(names) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range names {
		if !slices.Contains(c.of[binding], name) {
			c.of[binding] = append(c.of[binding], name)
		}
	}
}

func (c *changes) any(binding controller.Key) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.of[binding]) > 0
}

// take returns the changes of a binding and forgets them. Who does not come to an end with
// them adds them again.
func (c *changes) take(binding controller.Key) []permissionclaims.Name {
	c.mu.Lock()
	defer c.mu.Unlock()
	names := c.of[binding]
	delete(c.of, binding)
	return names
}

// waiting are the bindings that have accepted a claim of something that no export serves,
// by the identity that would have to.
type waiting struct {
	mu sync.Mutex
	of map[controller.Key][]string
	on map[string]map[controller.Key]struct{}
}

func newWaiting() *waiting {
	return &waiting{of: map[controller.Key][]string{}, on: map[string]map[controller.Key]struct{}{}}
}

// set says which identities a binding waits for.
func (w *waiting) set(binding controller.Key, identities ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, identity := range w.of[binding] {
		delete(w.on[identity], binding)
		if len(w.on[identity]) == 0 {
			delete(w.on, identity)
		}
	}
	delete(w.of, binding)
	for _, identity := range identities {
		if w.on[identity] == nil {
			w.on[identity] = map[controller.Key]struct{}{}
		}
		w.on[identity][binding] = struct{}{}
		w.of[binding] = append(w.of[binding], identity)
	}
}

// forIdentity returns the bindings that wait for an identity.
func (w *waiting) forIdentity(identity string) []controller.Key {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Collect(maps.Keys(w.on[identity]))
}
