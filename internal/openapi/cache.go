package openapi

import (
	"container/list"
	"fmt"
	"sync"

	"golang.org/x/sync/singleflight"
)

// cache keeps the values used last as long as they weigh no more than limit together.
// Values are built once, however many ask for them at the same time.
type cache[V any] struct {
	weigh func(V) int
	limit int

	building singleflight.Group

	mu      sync.Mutex
	entries map[string]*list.Element // of *entry[V]
	order   *list.List               // most recently used first
	weight  int
}

type entry[V any] struct {
	key    string
	value  V
	weight int
}

func newCache[V any](limit int, weigh func(V) int) *cache[V] {
	return &cache[V]{weigh: weigh, limit: limit, entries: map[string]*list.Element{}, order: list.New()}
}

// get returns the value of key, which it lets build make if need be. Errors are not
// kept.
func (c *cache[V]) get(key string, build func() (V, error)) (V, error) {
	if value, ok := c.lookup(key); ok {
		return value, nil
	}
	built, err, _ := c.building.Do(key, func() (any, error) {
		// It may have been built since the look-up above.
		if value, ok := c.lookup(key); ok {
			return value, nil
		}
		value, err := guarded(build)
		if err != nil {
			return nil, err
		}
		c.add(key, value)
		return value, nil
	})
	if err != nil {
		var none V
		return none, err
	}
	return built.(V), nil
}

// guarded makes an error of a panic. A flight of requests passes a panic on in a way
// that ends the program, and what is built here comes from anybody's schema.
func guarded[V any](build func() (V, error)) (value V, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return build()
}

func (c *cache[V]) lookup(key string) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	element, ok := c.entries[key]
	if !ok {
		var none V
		return none, false
	}
	c.order.MoveToFront(element)
	return element.Value.(*entry[V]).value, true
}

func (c *cache[V]) add(key string, value V) {
	added := &entry[V]{key: key, value: value, weight: c.weigh(value)}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries[key] = c.order.PushFront(added)
	c.weight += added.weight
	// The value just added stays, even if it is too heavy by itself: the client that
	// asked for it is likely to ask again.
	for c.weight > c.limit && c.order.Len() > 1 {
		oldest := c.order.Remove(c.order.Back()).(*entry[V])
		delete(c.entries, oldest.key)
		c.weight -= oldest.weight
	}
}
