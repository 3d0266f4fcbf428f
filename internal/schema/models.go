package schema

import (
	"fmt"
	"slices"
	"strings"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// kindExtension is where a model says which kinds it describes.
const kindExtension = "x-kubernetes-group-version-kind"

// Model returns the schema of a kind from the models of an OpenAPI v3 document, with
// everything in place that it refers to. It shares memory with models. If none of them
// describes the kind the error is resolver.ErrSchemaNotFound.
func Model(models map[string]*spec.Schema, kind apischema.GroupVersionKind) (*spec.Schema, error) {
	for name, model := range models {
		if !describes(model, kind) {
			continue
		}
		return resolver.PopulateRefs(func(ref string) (*spec.Schema, bool) {
			found, ok := models[strings.TrimPrefix(ref, "#/components/schemas/")]
			return found, ok
		}, name)
	}
	return nil, fmt.Errorf("%s: %w", kind, resolver.ErrSchemaNotFound)
}

func describes(model *spec.Schema, kind apischema.GroupVersionKind) bool {
	var kinds []apischema.GroupVersionKind
	err := model.Extensions.GetObject(kindExtension, &kinds)
	return err == nil && slices.Contains(kinds, kind)
}
