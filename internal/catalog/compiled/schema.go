package compiled

import (
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/forkless/kcp/internal/schema"
)

// TypeConverter returns what knows the structure of the objects, in all versions.
func (a *API) TypeConverter() managedfields.TypeConverter { return a.typeConverter }

// Schema returns the OpenAPI schema of a version with everything in place that it refers
// to, metadata above all. It is made anew and belongs to the caller.
func (a *API) Schema(version string) (*spec.Schema, error) {
	document, err := builder.BuildOpenAPIV3(a.definition.CRD, version, builder.Options{})
	if err != nil {
		return nil, fmt.Errorf("describing %s, version %s: %w", a.definition.CRD.Name, version, err)
	}
	return schema.Model(document.Components.Schemas, a.definition.GroupKind().WithVersion(version))
}
