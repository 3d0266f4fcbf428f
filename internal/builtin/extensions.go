package builtin

import (
	"k8s.io/apiextensions-apiserver/pkg/registry/customresourcedefinition"
)

// apiextensions serves definitions as objects. What they define is served elsewhere.
func apiextensions(config *Config, _ *shared) (storages, error) {
	definitions, err := customresourcedefinition.NewREST(ExtensionsScheme, config.RESTOptions)
	if err != nil {
		return nil, err
	}
	return storages{
		"customresourcedefinitions":        definitions,
		"customresourcedefinitions/status": customresourcedefinition.NewStatusREST(ExtensionsScheme, definitions),
	}, nil
}
