package builtin

import (
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/kube-openapi/pkg/builder3"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"

	kcpschema "github.com/forkless/kcp/internal/schema"
)

// Registry returns what serves a resource, or a NotFound Status. It is for those who read
// objects in the same process; they are in the internal version.
func (g *Groups) Registry(resource schema.GroupVersionResource) (rest.Storage, error) {
	for _, group := range append([]*genericapiserver.APIGroupInfo{g.Core}, g.Named...) {
		if group.PrioritizedVersions[0].Group != resource.Group {
			continue
		}
		if registry, ok := group.VersionedResourcesStorageMap[resource.Version][resource.Resource]; ok {
			return registry, nil
		}
	}
	return nil, apierrors.NewNotFound(resource.GroupResource(), "")
}

// buildModels describes the kinds as OpenAPI v3 does.
func (t *Types) buildModels() (map[string]*spec.Schema, error) {
	names := slices.Collect(maps.Keys(t.OpenAPIDefinitions(func(name string) spec.Ref {
		name, _ = definitionNamer().GetDefinitionName(name)
		return spec.MustCreateRef("#/components/schemas/" + common.EscapeJsonPointer(name))
	})))
	models, err := builder3.BuildOpenAPIDefinitionsForResources(t.OpenAPIV3Config("kubernetes", version), names...)
	if err != nil {
		return nil, fmt.Errorf("describing the built-in kinds: %w", err)
	}
	return models, nil
}

func (t *Types) buildConverter() (managedfields.TypeConverter, error) {
	models, err := t.models()
	if err != nil {
		return nil, err
	}
	return managedfields.NewTypeConverter(models, false)
}

// TypeConverter returns what knows the structure of the objects of all kinds.
func (t *Types) TypeConverter() (managedfields.TypeConverter, error) { return t.converter() }

// Schema returns the OpenAPI schema of a kind with all that it refers to in it, or
// resolver.ErrSchemaNotFound. It must not be changed.
func (t *Types) Schema(kind schema.GroupVersionKind) (*spec.Schema, error) {
	models, err := t.models()
	if err != nil {
		return nil, err
	}
	return kcpschema.Model(models, kind)
}
