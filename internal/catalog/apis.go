package catalog

import (
	"fmt"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/conversion"

	"github.com/forkless/kcp/internal/catalog/compiled"
	"github.com/forkless/kcp/internal/catalog/view"
	"github.com/forkless/kcp/internal/schema"
	"github.com/forkless/kcp/internal/storage"
)

// apis are the definitions that have been compiled, shared by content.
type apis struct {
	config     Config
	converters *conversion.CRConverterFactory
	stores     *stores
	// used says whether there is any cluster that has what is served.
	used func(schema.Served) bool

	mu  sync.RWMutex
	all map[apiKey]*apiEntry
}

// apiEntry is a definition that is, or is about to be, compiled. Its lock keeps it
// from being compiled twice without making others wait.
type apiEntry struct {
	mu  sync.Mutex
	api *compiled.API
}

// apiKey says what is compiled: a definition, over the store of an identity.
type apiKey struct{ hash, identity string }

// get returns the compiled form of what is served.
func (a *apis) get(served schema.Served) (*compiled.API, error) {
	key := apiKey{hash: served.Definition.Hash, identity: served.Identity}
	entry := a.entry(key)
	entry.mu.Lock()
	defer entry.mu.Unlock()
	if entry.api != nil {
		return entry.api, nil
	}
	for {
		api, shared, err := a.compile(served)
		a.forgetUnused(key, entry, served)
		if err != nil {
			return nil, err
		}
		entry.api = api
		// In this order: a store is closed only while nobody uses it, so one that is
		// used and open stays open for what has been compiled.
		if a.stores.isOpen(resourceOf(served), shared) {
			return entry.api, nil
		}
	}
}

// compile compiles what is served, over the store that it returns.
func (a *apis) compile(served schema.Served) (*compiled.API, *view.Shared, error) {
	config, err := a.configFor(served)
	if err != nil {
		return nil, nil, err
	}
	if a.config.Converter != nil {
		if config.Converter, err = a.config.Converter(served); err != nil {
			return nil, nil, fmt.Errorf("definition %s: making converter: %w", served.Definition.CRD.Name, err)
		}
	}
	api, err := compiled.New(served.Definition, config)
	return api, config.Shared, err
}

// forgetUnused forgets an entry whose definition was dropped by its last cluster before
// the entry was made: nobody would do it later.
func (a *apis) forgetUnused(key apiKey, entry *apiEntry, served schema.Served) {
	if a.used(served) {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.all[key] == entry {
		delete(a.all, key)
	}
}

func resourceOf(served schema.Served) storage.Resource {
	return storage.Resource{GroupResource: served.Definition.GroupResource(), Identity: served.Identity}
}

func (a *apis) entry(key apiKey) *apiEntry {
	a.mu.RLock()
	entry := a.all[key]
	a.mu.RUnlock()
	if entry != nil {
		return entry
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if entry = a.all[key]; entry == nil {
		entry = &apiEntry{}
		a.all[key] = entry
	}
	return entry
}

// configFor returns what serves a definition beside itself. The store is ready then.
func (a *apis) configFor(served schema.Served) (compiled.Config, error) {
	resource := resourceOf(served)
	shared, err := a.stores.get(resource)
	if err != nil {
		return compiled.Config{}, err
	}
	waitReady(shared)
	return compiled.Config{
		Shared:              shared,
		Prefix:              resource.Prefix(),
		Converters:          a.converters,
		Authorizer:          a.config.Authorizer,
		Show:                a.config.Show,
		MaxRequestBodyBytes: a.config.MaxRequestBodyBytes,
		DeleteWorkers:       max(a.config.DeleteCollectionWorkers, 1),
	}, nil
}

// drop forgets the compiled form of a definition that no cluster has any more.
// Requests under way keep what they have.
func (a *apis) drop(definition *schema.Definition, identity string) {
	if definition == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.all, apiKey{hash: definition.Hash, identity: identity})
}
