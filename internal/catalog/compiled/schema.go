package compiled

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// kindExtension is where a model says which kinds it is of.
const kindExtension = "x-kubernetes-group-version-kind"

// TypeConverter returns what knows the structure of the objects, in all versions.
func (a *API) TypeConverter() managedfields.TypeConverter { return a.typeConverter }

// Schema returns the OpenAPI schema of a version with everything in place that it refers
// to, metadata above all. It is made anew and belongs to the caller.
func (a *API) Schema(version string) (*spec.Schema, error) {
	document, err := builder.BuildOpenAPIV3(a.definition.CRD, version, builder.Options{})
	if err != nil {
		return nil, fmt.Errorf("describing %s, version %s: %w", a.definition.CRD.Name, version, err)
	}
	models := document.Components.Schemas
	kind := a.definition.GroupKind().WithVersion(version)
	for name, model := range models {
		if !describes(model, kind) {
			continue
		}
		return resolver.PopulateRefs(func(ref string) (*spec.Schema, bool) {
			found, ok := models[modelName(ref)]
			return found, ok
		}, name)
	}
	return nil, fmt.Errorf("%s has no schema of version %s", a.definition.CRD.Name, version)
}

// modelName returns the name of the model that ref refers to.
func modelName(ref string) string { return strings.TrimPrefix(ref, "#/components/schemas/") }

// describes says whether model is that of kind.
func describes(model *spec.Schema, kind apischema.GroupVersionKind) bool {
	var kinds []apischema.GroupVersionKind
	err := model.Extensions.GetObject(kindExtension, &kinds)
	return err == nil && slices.Contains(kinds, kind)
}
