package openapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// fragment is a part of a document, encoded. It is immutable.
type fragment struct {
	paths      map[string]json.RawMessage
	schemas    map[string]json.RawMessage
	parameters map[string]json.RawMessage // v2 only
}

func emptyFragment() fragment {
	return fragment{
		paths:      map[string]json.RawMessage{},
		schemas:    map[string]json.RawMessage{},
		parameters: map[string]json.RawMessage{},
	}
}

// weight returns about how many bytes the fragment takes.
func (f fragment) weight() int {
	const perEntry = 64
	total := 0
	for _, part := range []map[string]json.RawMessage{f.paths, f.schemas, f.parameters} {
		for name, content := range part {
			total += len(name) + len(content) + perEntry
		}
	}
	return total
}

// add copies what is in other. Where both have an entry, the one that is there stays;
// override replaces paths instead.
func (f fragment) add(other fragment, override bool) {
	if override {
		maps.Copy(f.paths, other.paths)
	} else {
		addMissing(f.paths, other.paths)
	}
	addMissing(f.schemas, other.schemas)
	addMissing(f.parameters, other.parameters)
}

func addMissing(to, from map[string]json.RawMessage) {
	for name, content := range from {
		if _, exists := to[name]; !exists {
			to[name] = content
		}
	}
}

// documentV2 and documentV3 are the documents, as far as they are used here.
type documentV2 struct {
	Swagger     string                     `json:"swagger"`
	Info        *spec.Info                 `json:"info,omitempty"`
	Paths       map[string]json.RawMessage `json:"paths"`
	Definitions map[string]json.RawMessage `json:"definitions"`
	Parameters  map[string]json.RawMessage `json:"parameters,omitempty"`
}

type documentV3 struct {
	OpenAPI    string                     `json:"openapi"`
	Info       *spec.Info                 `json:"info,omitempty"`
	Paths      map[string]json.RawMessage `json:"paths"`
	Components componentsV3               `json:"components"`
}

type componentsV3 struct {
	Schemas map[string]json.RawMessage `json:"schemas"`
}

func fragmentV2(swagger *spec.Swagger) (fragment, error) {
	var document documentV2
	if err := recode(swagger, &document); err != nil {
		return fragment{}, err
	}
	return fragment{paths: corePaths(document.Paths), schemas: document.Definitions, parameters: document.Parameters}, nil
}

func fragmentV3(openapi *spec3.OpenAPI) (fragment, error) {
	var document documentV3
	if err := recode(openapi, &document); err != nil {
		return fragment{}, err
	}
	return fragment{paths: corePaths(document.Paths), schemas: document.Components.Schemas}, nil
}

// recode takes a document apart into encoded pieces.
func recode(from, to any) error {
	encoded, err := json.Marshal(from)
	if err != nil {
		return fmt.Errorf("encoding: %w", err)
	}
	if err := json.Unmarshal(encoded, to); err != nil {
		return fmt.Errorf("taking apart: %w", err)
	}
	return nil
}

// corePaths moves the paths of definitions in the core group to where they are served.
// Upstream's builder puts every definition below /apis.
func corePaths(paths map[string]json.RawMessage) map[string]json.RawMessage {
	for path, content := range paths {
		if rest, core := strings.CutPrefix(path, "/apis//"); core {
			delete(paths, path)
			paths["/api/"+rest] = content
		}
	}
	return paths
}
