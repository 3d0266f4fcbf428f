package policies

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"sync"
)

// compilations are what policies have been compiled to, shared by name and content and
// counted. The name counts because metrics and messages of what is compiled have it.
type compilations[E any] struct {
	mu  sync.Mutex
	all map[[sha256.Size]byte]*compilation[E]
}

// compilation is one of them, made when it is first needed.
type compilation[E any] struct {
	key       [sha256.Size]byte
	evaluator func() E
	uses      int
}

func newCompilations[E any]() *compilations[E] {
	return &compilations[E]{all: map[[sha256.Size]byte]*compilation[E]{}}
}

// use returns the compilation of a policy with this name and content, to be released in
// the end. Nothing is compiled yet.
func (c *compilations[E]) use(name string, spec any, compile func() E) (*compilation[E], error) {
	content, err := json.Marshal([]any{name, spec})
	if err != nil {
		return nil, fmt.Errorf("policy %s: %w", name, err)
	}
	key := sha256.Sum256(content)
	c.mu.Lock()
	defer c.mu.Unlock()
	shared := c.all[key]
	if shared == nil {
		shared = &compilation[E]{key: key, evaluator: sync.OnceValue(compile)}
		c.all[key] = shared
	}
	shared.uses++
	return shared, nil
}

// release gives back what use has returned. Requests under way keep what they have.
func (c *compilations[E]) release(shared *compilation[E]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	shared.uses--
	if shared.uses == 0 {
		delete(c.all, shared.key)
	}
}

func (c *compilations[E]) len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.all)
}
