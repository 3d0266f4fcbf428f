// Package crds holds the CustomResourceDefinitions of our own API kinds, as
// `make generate` writes them from pkg/apis: the Go types say what the fields are called,
// the definitions what may be in them. What binding is made of is served from them in
// every cluster; of the others package exports makes the schemas that root exports.
//
// The package only reads what is embedded in it. What is served where is decided by
// the catalog.
package crds

import (
	_ "embed"
	"encoding/json"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// The definitions are embedded as one piece of JSON, which is read in a quarter of the
// time that the YAML files beside it take. This is part of every start.
//
//go:embed zz_generated.definitions.json
var definitions []byte

// All returns the definitions, sorted by group and plural name, defaulted, and with the
// accepted names and stored versions that the API server would have written. They are
// read anew at each call, so the caller owns them.
func All() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	var all []*apiextensionsv1.CustomResourceDefinition
	if err := json.Unmarshal(definitions, &all); err != nil {
		return nil, fmt.Errorf("reading the embedded definitions: %w", err)
	}
	for _, crd := range all {
		apiextensionsv1.SetDefaults_CustomResourceDefinition(crd)
		crd.Status.AcceptedNames = crd.Spec.Names
	}
	return all, nil
}
