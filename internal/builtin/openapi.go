package builtin

import (
	"maps"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/endpoints/openapi"
	utilopenapi "k8s.io/apiserver/pkg/util/openapi"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"
	generated "k8s.io/kubernetes/pkg/generated/openapi"
)

// Types describe the built-in kinds of a server: their names, and their structure. What
// is worked out of them is kept for the life of the process.
type Types struct {
	workloads bool
	// v2 and v3 are the definitions as each version of OpenAPI refers to others.
	v2, v3 definitions
	// models and converter are made on first use, which takes some milliseconds.
	models    func() (map[string]*spec.Schema, error)
	converter func() (managedfields.TypeConverter, error)
}

type definitions struct {
	once sync.Once
	kept map[string]common.OpenAPIDefinition
}

var basicTypes, allTypes = newTypes(false), newTypes(true)

// TypesOf returns the kinds of a server that serves workload types, or of one that does
// not.
func TypesOf(workloads bool) *Types {
	if workloads {
		return allTypes
	}
	return basicTypes
}

func newTypes(workloads bool) *Types {
	t := &Types{workloads: workloads}
	t.models = sync.OnceValues(t.buildModels)
	t.converter = sync.OnceValues(t.buildConverter)
	return t
}

// OpenAPIConfig says how to describe the built-in APIs in OpenAPI v2. title and version
// name the server.
func (t *Types) OpenAPIConfig(title, version string) *common.Config {
	return &common.Config{
		ProtocolList:          []string{"https"},
		Info:                  info(title, version),
		GetOperationIDAndTags: openapi.GetOperationIDAndTags,
		GetDefinitionName:     definitionNamer().GetDefinitionName,
		GetDefinitions:        t.OpenAPIDefinitions,
	}
}

// OpenAPIV3Config says how to describe the built-in APIs in OpenAPI v3. A generic API
// server needs it also to know the structure of objects for server-side apply.
func (t *Types) OpenAPIV3Config(title, version string) *common.OpenAPIV3Config {
	return &common.OpenAPIV3Config{
		Info:                  info(title, version),
		GetOperationIDAndTags: openapi.GetOperationIDAndTags,
		GetDefinitionName:     definitionNamer().GetDefinitionName,
		GetDefinitions:        t.OpenAPIDefinitions,
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
func (t *Types) OpenAPIDefinitions(ref common.ReferenceCallback) map[string]common.OpenAPIDefinition {
	// References differ between OpenAPI v2 and v3 and in nothing else.
	of := &t.v3
	if r := ref(""); strings.HasPrefix(r.String(), "#/definitions") {
		of = &t.v2
	}
	of.once.Do(func() { of.kept = t.used(ref) })

	// The builders write to the extensions of the schemas they are given.
	definitions := maps.Clone(of.kept)
	for name, definition := range definitions {
		definition.Schema.Extensions = maps.Clone(definition.Schema.Extensions)
		definitions[name] = definition
	}
	return definitions
}

// used returns the definitions of the types in usedPackages and usedTypes, those of
// workloads where they are served, and of all they refer to.
func (t *Types) used(ref common.ReferenceCallback) map[string]common.OpenAPIDefinition {
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
		if pkg := name[:i+1]; usedPackages[pkg] || t.workloads && workloadPackages[pkg] {
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

	// workloadPackages are those of workload types, the whole core group among them.
	workloadPackages = map[string]bool{
		"io.k8s.api.apps.v1.":        true,
		"io.k8s.api.autoscaling.v1.": true,
		"io.k8s.api.autoscaling.v2.": true,
		"io.k8s.api.batch.v1.":       true,
		"io.k8s.api.core.v1.":        true,
		"io.k8s.api.discovery.v1.":   true,
		"io.k8s.api.networking.v1.":  true,
		"io.k8s.api.node.v1.":        true,
		"io.k8s.api.policy.v1.":      true,
		"io.k8s.api.scheduling.v1.":  true,
		"io.k8s.api.storage.v1.":     true,
	}

	// usedTypes are those of the core group, most of whose types are workload types.
	usedTypes = []string{
		"io.k8s.api.core.v1.ConfigMap", "io.k8s.api.core.v1.ConfigMapList",
		"io.k8s.api.core.v1.Event", "io.k8s.api.core.v1.EventList",
		"io.k8s.api.core.v1.Namespace", "io.k8s.api.core.v1.NamespaceList",
		"io.k8s.api.core.v1.ResourceQuota", "io.k8s.api.core.v1.ResourceQuotaList",
		"io.k8s.api.core.v1.Secret", "io.k8s.api.core.v1.SecretList",
		"io.k8s.api.core.v1.ServiceAccount", "io.k8s.api.core.v1.ServiceAccountList",
	}
)
