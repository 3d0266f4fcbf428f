package crdspec

import (
	"crypto/sha256"
	"runtime"
	"sync"
	"weak"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
)

// table knows the specs that are in use, by the hash of their stored bytes.
type table struct {
	mu    sync.Mutex
	specs map[id]weak.Pointer[shared]
}

type id = [sha256.Size]byte

// shared is a spec together with one of its schemas. The spec points into it: whoever
// has a copy of the spec keeps all of it in memory, and once nobody has, it goes.
type shared struct {
	schema apiextensions.CustomResourceValidation
	spec   apiextensions.CustomResourceDefinitionSpec
}

func newTable() *table { return &table{specs: map[id]weak.Pointer[shared]{}} }

// get returns the spec with an id if it is in use.
func (t *table) get(id id) (apiextensions.CustomResourceDefinitionSpec, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.specs[id].Value(); s != nil {
		return s.spec, true
	}
	return apiextensions.CustomResourceDefinitionSpec{}, false
}

// add returns the spec to use for an id: the one in use, or else spec, which others will
// get from now on. spec is the table's afterwards.
func (t *table) add(id id, spec apiextensions.CustomResourceDefinitionSpec) apiextensions.CustomResourceDefinitionSpec {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.specs[id].Value(); s != nil {
		return s.spec
	}
	schema := anySchema(&spec)
	if schema == nil {
		// Without a schema there is nothing worth sharing.
		return spec
	}
	s := &shared{schema: **schema}
	*schema = &s.schema
	s.spec = spec
	t.specs[id] = weak.Make(s)
	runtime.AddCleanup(s, t.forget, id)
	return s.spec
}

// forget removes the entry of an id whose spec has gone.
func (t *table) forget(id id) {
	t.mu.Lock()
	defer t.mu.Unlock()
	// Another one of the same content may have come in the meantime.
	if t.specs[id].Value() == nil {
		delete(t.specs, id)
	}
}

// anySchema returns where spec points to one of its schemas, nil if it has none.
func anySchema(spec *apiextensions.CustomResourceDefinitionSpec) **apiextensions.CustomResourceValidation {
	if spec.Validation != nil {
		return &spec.Validation
	}
	for i := range spec.Versions {
		if spec.Versions[i].Schema != nil {
			return &spec.Versions[i].Schema
		}
	}
	return nil
}
