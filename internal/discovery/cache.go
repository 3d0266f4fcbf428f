package discovery

import (
	"crypto/sha256"
	"fmt"

	"k8s.io/utils/lru"

	"github.com/forkless/kcp/internal/schema"
)

const defaultCacheSize = 256

// cache keeps the documents used last, by content.
type cache struct{ documents *lru.Cache }

func newCache(size int) *cache {
	if size == 0 {
		size = defaultCacheSize
	}
	return &cache{documents: lru.New(size)}
}

// get returns the document of a set of definitions. Two requests that miss at the same
// time both build it, which is cheaper than making all wait for one another.
func (c *cache) get(builtins *snapshot, definitions []schema.Served) (*document, error) {
	return c.build(keyOf(builtins, definitions, nil), func() (*document, error) {
		return newDocument(builtins.groups, definitions)
	})
}

// selected returns the document of a selection.
func (c *cache) selected(builtins *snapshot, selection schema.Selection) (*document, error) {
	// Shown is not nil, so that what is selected is never taken for all there is.
	shown := fmt.Appendf([]byte("selected"), "%q", selection.Shown)
	return c.build(keyOf(builtins, selection.Definitions, shown), func() (*document, error) {
		return newSelectedDocument(builtins.groups, selection)
	})
}

func (c *cache) build(key [sha256.Size]byte, build func() (*document, error)) (*document, error) {
	if found, ok := c.documents.Get(key); ok {
		return found.(*document), nil
	}
	built, err := build()
	if err != nil {
		return nil, err
	}
	c.documents.Add(key, built)
	return built, nil
}

// keyOf covers everything a document depends on. The identity of an API is not part of
// it: clients cannot see it here.
func keyOf(builtins *snapshot, definitions []schema.Served, shown []byte) [sha256.Size]byte {
	content := make([]byte, 0, len(builtins.hash)+len(shown)+len(definitions)*(2*sha256.Size+2))
	content = append(content, builtins.hash...)
	content = append(content, shown...)
	for _, served := range definitions {
		flag := byte('a')
		if served.Terminating {
			flag = 't'
		}
		content = append(content, flag)
		content = append(content, served.Definition.Hash...)
		content = append(content, 0)
	}
	return sha256.Sum256(content)
}
