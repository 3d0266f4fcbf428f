package openapi

import (
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder"
	"k8s.io/kube-openapi/pkg/handler"

	"github.com/forkless/kcp/internal/schema"
)

// definitionV2 builds the description of all served versions of a definition.
func definitionV2(definition *schema.Definition) (fragment, error) {
	all := emptyFragment()
	for i := range definition.CRD.Spec.Versions {
		version := &definition.CRD.Spec.Versions[i]
		if !version.Served {
			continue
		}
		swagger, err := builder.BuildOpenAPIV2(definition.CRD, version.Name, builder.Options{V2: true, IncludeSelectableFields: true})
		if err != nil {
			return fragment{}, fmt.Errorf("describing %s in version %s: %w", definition.CRD.Name, version.Name, err)
		}
		swagger.Definitions = handler.PruneDefaults(swagger.Definitions)
		one, err := fragmentV2(swagger)
		if err != nil {
			return fragment{}, err
		}
		all.add(one, false)
	}
	return all, nil
}

// definitionV3 builds the description of one version of a definition.
func definitionV3(definition *schema.Definition, version string) (fragment, error) {
	openapi, err := builder.BuildOpenAPIV3(definition.CRD, version, builder.Options{IncludeSelectableFields: true})
	if err != nil {
		return fragment{}, fmt.Errorf("describing %s in version %s: %w", definition.CRD.Name, version, err)
	}
	return fragmentV3(openapi)
}
