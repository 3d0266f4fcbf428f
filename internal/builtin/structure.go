package builtin

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/kube-openapi/pkg/builder3"
	"k8s.io/kube-openapi/pkg/validation/spec"
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

// TypeConverter returns what knows the structure of the objects of all built-in kinds. It
// is made on first use, which takes some milliseconds.
func TypeConverter() (managedfields.TypeConverter, error) { return typeConverter() }

var typeConverter = sync.OnceValues(func() (managedfields.TypeConverter, error) {
	config := OpenAPIV3Config("kubernetes", version)
	names := slices.Collect(maps.Keys(OpenAPIDefinitions(spec.MustCreateRef)))
	models, err := builder3.BuildOpenAPIDefinitionsForResources(config, names...)
	if err != nil {
		return nil, fmt.Errorf("describing the built-in kinds: %w", err)
	}
	return managedfields.NewTypeConverter(models, false)
})

// Schema returns the OpenAPI schema of a built-in kind with all that it refers to in it,
// or resolver.ErrSchemaNotFound. It must not be changed.
func Schema(kind schema.GroupVersionKind) (*spec.Schema, error) { return schemas().ResolveSchema(kind) }

var schemas = sync.OnceValue(func() *resolver.DefinitionsSchemaResolver {
	return resolver.NewDefinitionsSchemaResolver(OpenAPIDefinitions, Scheme, ExtensionsScheme)
})
