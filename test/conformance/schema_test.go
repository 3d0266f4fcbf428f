package conformance

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/kube-openapi/pkg/common"
	openapispec "k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kubernetes/pkg/generated/openapi"
)

// schemas makes schemas for CustomResourceDefinitions of the types of Kubernetes.
type schemas struct {
	definitions map[string]common.OpenAPIDefinition
}

const refPrefix = "#/definitions/"

func newSchemas() schemas {
	return schemas{definitions: openapi.GetOpenAPIDefinitions(func(name string) openapispec.Ref {
		return openapispec.MustCreateRef(refPrefix + name)
	})}
}

// of returns the schema of the type with that name in Kubernetes' OpenAPI document.
func (s schemas) of(name string) (*apiextensionsv1.JSONSchemaProps, error) {
	root, err := s.inline(name)
	if err != nil {
		return nil, err
	}
	if properties, ok := root["properties"].(map[string]any); ok {
		// The server knows what metadata looks like, and tolerates no other opinion.
		properties["metadata"] = map[string]any{"type": "object"}
	}
	data, err := json.Marshal(root)
	if err != nil {
		return nil, err
	}
	props := &apiextensionsv1.JSONSchemaProps{}
	return props, json.Unmarshal(data, props)
}

// inline returns a definition without references to others.
func (s schemas) inline(name string) (map[string]any, error) {
	definition, ok := s.definitions[name]
	if !ok {
		return nil, fmt.Errorf("the OpenAPI document of Kubernetes has no %s", name)
	}
	data, err := json.Marshal(definition.Schema)
	if err != nil {
		return nil, err
	}
	var node map[string]any
	if err := json.Unmarshal(data, &node); err != nil {
		return nil, err
	}
	return node, s.structural(node)
}

// structural turns a schema into one that a CustomResourceDefinition may have.
func (s schemas) structural(node map[string]any) error {
	if err := s.resolve(node); err != nil {
		return err
	}
	if text, ok := node["default"].(string); !ok || text == "" {
		// What a Go program would see, not what the server fills in.
		delete(node, "default")
	}
	if node["type"] != "array" {
		// A slice of bytes is an array in Go, and a string to the rest of the world.
		delete(node, "x-kubernetes-list-type")
	}
	switch {
	case node["oneOf"] != nil:
		// Quantities, ports and the like.
		for _, key := range []string{"oneOf", "type", "format"} {
			delete(node, key)
		}
		node["x-kubernetes-int-or-string"] = true
	case node["format"] == "date-time":
		node["nullable"] = true
	case node["type"] == "object" && node["properties"] == nil && node["additionalProperties"] == nil:
		node["x-kubernetes-preserve-unknown-fields"] = true
	}
	for _, child := range children(node) {
		if err := s.structural(child); err != nil {
			return err
		}
	}
	requireKeys(node)
	return nil
}

// requireKeys makes what tells the items of a list apart required, or gives it a
// default: a definition has to.
func requireKeys(list map[string]any) {
	keys, _ := list["x-kubernetes-list-map-keys"].([]any)
	for _, key := range keys {
		item := list["items"].(map[string]any)
		property := item["properties"].(map[string]any)[key.(string)].(map[string]any)
		required, _ := item["required"].([]any)
		if !slices.Contains(required, key) && property["default"] == nil {
			property["default"] = ""
		}
	}
}

// resolve replaces a reference by what it refers to, which keeps its own description.
func (s schemas) resolve(node map[string]any) error {
	ref, _ := node["$ref"].(string)
	if all, ok := node["allOf"].([]any); ok && len(all) == 1 {
		ref, _ = all[0].(map[string]any)["$ref"].(string)
	}
	if ref == "" {
		return nil
	}
	target, err := s.inline(strings.TrimPrefix(ref, refPrefix))
	if err != nil {
		return err
	}
	delete(node, "$ref")
	delete(node, "allOf")
	delete(target, "description")
	maps.Copy(node, target)
	return nil
}

// children returns the schemas directly below.
func children(node map[string]any) []map[string]any {
	var all []map[string]any
	if properties, ok := node["properties"].(map[string]any); ok {
		for _, property := range properties {
			all = append(all, property.(map[string]any))
		}
	}
	for _, key := range []string{"items", "additionalProperties"} {
		if child, ok := node[key].(map[string]any); ok {
			all = append(all, child)
		}
	}
	return all
}
