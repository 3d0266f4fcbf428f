package builtin

import (
	"maps"
	"strings"
	"sync"

	"k8s.io/apiserver/pkg/endpoints/openapi"
	utilopenapi "k8s.io/apiserver/pkg/util/openapi"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"
	generated "k8s.io/kubernetes/pkg/generated/openapi"
)

// OpenAPIConfig says how to describe the built-in APIs in OpenAPI v2. title and version
// name the server.
func OpenAPIConfig(title, version string) *common.Config {
	return &common.Config{
		ProtocolList:          []string{"https"},
		Info:                  info(title, version),
		GetOperationIDAndTags: openapi.GetOperationIDAndTags,
		GetDefinitionName:     definitionNamer().GetDefinitionName,
		GetDefinitions:        OpenAPIDefinitions,
	}
}

// OpenAPIV3Config says how to describe the built-in APIs in OpenAPI v3. A generic API
// server needs it also to know the structure of objects for server-side apply.
func OpenAPIV3Config(title, version string) *common.OpenAPIV3Config {
	return &common.OpenAPIV3Config{
		Info:                  info(title, version),
		GetOperationIDAndTags: openapi.GetOperationIDAndTags,
		GetDefinitionName:     definitionNamer().GetDefinitionName,
		GetDefinitions:        OpenAPIDefinitions,
	}
}

func info(title, version string) *spec.Info {
	return &spec.Info{InfoProps: spec.InfoProps{Title: title, Version: version}}
}

// definitionNamer names the schemas of the built-in types and says which group, version
// and kind each belongs to.
var definitionNamer = sync.OnceValue(func() *openapi.DefinitionNamer {
	return openapi.NewDefinitionNamer(Scheme, ExtensionsScheme)
})

// OpenAPIDefinitions returns the schemas of the types that the built-in APIs use,
// without the fields of disabled features. The result belongs to the caller; what lies
// below the schemas' first level is shared.
//
// Upstream's function builds the schemas of all 1,500 types of Kubernetes at each call,
// which takes 8 ms and 6 MB, and a server calls it once for each group version. The
// sixth of them that is used here is kept.
func OpenAPIDefinitions(ref common.ReferenceCallback) map[string]common.OpenAPIDefinition {
	// References differ between OpenAPI v2 and v3 and in nothing else.
	kept := &definitionsV3
	if r := ref(""); strings.HasPrefix(r.String(), "#/definitions") {
		kept = &definitionsV2
	}
	kept.once.Do(func() { kept.definitions = used(ref) })

	// The builders write to the extensions of the schemas they are given.
	definitions := maps.Clone(kept.definitions)
	for name, definition := range definitions {
		definition.Schema.Extensions = maps.Clone(definition.Schema.Extensions)
		definitions[name] = definition
	}
	return definitions
}

var definitionsV2, definitionsV3 struct {
	once        sync.Once
	definitions map[string]common.OpenAPIDefinition
}

// used returns the definitions of the types in usedPackages and usedTypes and of all
// they refer to.
func used(ref common.ReferenceCallback) map[string]common.OpenAPIDefinition {
	all := utilopenapi.GetOpenAPIDefinitionsWithoutDisabledFeatures(generated.GetOpenAPIDefinitions)(ref)
	definitions := map[string]common.OpenAPIDefinition{}
	var add func(name string)
	add = func(name string) {
		definition, exists := all[name]
		if _, done := definitions[name]; done || !exists {
			return
		}
		definitions[name] = definition
		for _, dependency := range definition.Dependencies {
			add(dependency)
		}
	}
	for name := range all {
		i := strings.LastIndexByte(name, '.')
		if usedPackages[name[:i+1]] {
			add(name)
		}
	}
	for _, name := range usedTypes {
		add(name)
	}
	return definitions
}

var (
	// usedPackages are those of groups that are served whole, and those of what all
	// groups share.
	usedPackages = map[string]bool{
		"io.k8s.api.admissionregistration.v1.":                      true,
		"io.k8s.api.authentication.v1.":                             true,
		"io.k8s.api.authorization.v1.":                              true,
		"io.k8s.api.certificates.v1.":                               true,
		"io.k8s.api.coordination.v1.":                               true,
		"io.k8s.api.events.v1.":                                     true,
		"io.k8s.api.rbac.v1.":                                       true,
		"io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.": true,
		"io.k8s.apimachinery.pkg.api.resource.":                     true,
		"io.k8s.apimachinery.pkg.apis.meta.v1.":                     true,
		"io.k8s.apimachinery.pkg.runtime.":                          true,
		"io.k8s.apimachinery.pkg.util.intstr.":                      true,
		"io.k8s.apimachinery.pkg.version.":                          true,
	}

	// usedTypes are those of the core group, most of whose types are not served.
	usedTypes = []string{
		"io.k8s.api.core.v1.ConfigMap", "io.k8s.api.core.v1.ConfigMapList",
		"io.k8s.api.core.v1.Event", "io.k8s.api.core.v1.EventList",
		"io.k8s.api.core.v1.Namespace", "io.k8s.api.core.v1.NamespaceList",
		"io.k8s.api.core.v1.ResourceQuota", "io.k8s.api.core.v1.ResourceQuotaList",
		"io.k8s.api.core.v1.Secret", "io.k8s.api.core.v1.SecretList",
		"io.k8s.api.core.v1.ServiceAccount", "io.k8s.api.core.v1.ServiceAccountList",
	}
)
