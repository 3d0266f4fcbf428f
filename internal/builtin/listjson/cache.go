package listjson

import (
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// Cache remembers the JSON of objects. It may be used concurrently.
type Cache struct {
	limit int

	mu sync.Mutex
	// young holds what was used since it was last full. Then it becomes old, and what
	// was old is forgotten.
	young, old map[key][]byte
	// size is what young holds, in bytes.
	size int
}

// key names one state of one object.
type key struct {
	kind    reflect.Type
	uid     types.UID
	version string
}

// entryOverhead is about what an entry takes beside its JSON.
const entryOverhead = 128

// NewCache returns a cache that holds up to limit bytes.
func NewCache(limit int) *Cache {
	// Two generations share the limit.
	return &Cache{limit: limit / 2, young: map[key][]byte{}}
}

// get sets the elements of found whose keys are known. Those with the zero key are not
// looked up.
func (c *Cache) get(keys []key, found [][]byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, k := range keys {
		if k == (key{}) {
			continue
		}
		if data, ok := c.young[k]; ok {
			found[i] = data
		} else if data, ok := c.old[k]; ok {
			found[i] = data
			c.put(k, data)
		}
	}
}

// add remembers data[i] for keys[i], but for the zero key. The cache keeps data.
func (c *Cache) add(keys []key, data [][]byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, k := range keys {
		if k != (key{}) {
			c.put(k, data[i])
		}
	}
}

func (c *Cache) put(k key, data []byte) {
	if _, ok := c.young[k]; ok {
		return
	}
	size := len(data) + entryOverhead
	if size > c.limit {
		return
	}
	if c.size+size > c.limit {
		c.old, c.young, c.size = c.young, map[key][]byte{}, 0
	}
	c.young[k] = data
	c.size += size
}
