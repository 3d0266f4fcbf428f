package conversion

import (
	"encoding/json"
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
)

// Version is what a conversion has to know of a version of an API.
type Version struct {
	Name string
	// Served says that clients may use it, Storage that objects are stored in it.
	Served, Storage bool
	// Schema is that of the objects; nil if it is not known.
	Schema *apiextensionsv1.JSONSchemaProps
}

// VersionsOf returns the versions of a schema.
func VersionsOf(s *apisv1alpha1.APIResourceSchema) ([]Version, error) {
	var versions []Version
	for i := range s.Spec.Versions {
		version := &s.Spec.Versions[i]
		props := &apiextensionsv1.JSONSchemaProps{}
		if err := json.Unmarshal(version.Schema.Raw, props); err != nil {
			return nil, fmt.Errorf("reading the schema of version %s: %w", version.Name, err)
		}
		versions = append(versions, Version{Name: version.Name, Served: version.Served, Storage: version.Storage, Schema: props})
	}
	return versions, nil
}

// VersionsOfDefinition returns the versions of a definition.
func VersionsOfDefinition(crd *apiextensionsv1.CustomResourceDefinition) []Version {
	var versions []Version
	for i := range crd.Spec.Versions {
		version := &crd.Spec.Versions[i]
		v := Version{Name: version.Name, Served: version.Served, Storage: version.Storage}
		if version.Schema != nil {
			v.Schema = version.Schema.OpenAPIV3Schema
		}
		versions = append(versions, v)
	}
	return versions
}

// structural returns the structural form of a version's schema; nil if that is not known.
func (v *Version) structural() (*structuralschema.Structural, error) {
	if v.Schema == nil {
		return nil, nil
	}
	internal := &apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(v.Schema, internal, nil); err != nil {
		return nil, fmt.Errorf("reading the schema of version %s: %w", v.Name, err)
	}
	compiled, err := structuralschema.NewStructural(internal)
	if err != nil {
		return nil, fmt.Errorf("the schema of version %s: %w", v.Name, err)
	}
	return compiled, nil
}

// fieldOf returns the schema of the field that a path leads to; nil if there can be
// anything. It is an error if the version has no such field.
func fieldOf(schema *structuralschema.Structural, path Path) (*structuralschema.Structural, error) {
	for i, name := range path {
		if schema == nil {
			return nil, nil
		}
		if property, ok := schema.Properties[name]; ok {
			schema = &property
			continue
		}
		switch {
		case schema.AdditionalProperties != nil && schema.AdditionalProperties.Structural != nil:
			schema = schema.AdditionalProperties.Structural
		case schema.AdditionalProperties != nil && schema.AdditionalProperties.Bool, schema.XPreserveUnknownFields, schema.XEmbeddedResource:
			return nil, nil
		case schema.Type == "array":
			return nil, fmt.Errorf("%s is a list: convert the whole list, by an expression", path[:i])
		default:
			return nil, fmt.Errorf("the version has no field %s", path[:i+1])
		}
	}
	return schema, nil
}
