package crd

import (
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// nonStructural returns the condition that says what keeps the schemas of spec from
// being structural, or nil if they are.
func nonStructural(spec *apiextensionsv1.CustomResourceDefinitionSpec) *condition {
	var violations field.ErrorList
	if spec.PreserveUnknownFields {
		violations = append(violations, field.Invalid(field.NewPath("spec", "preserveUnknownFields"), true, "must be false"))
	}
	for i := range spec.Versions {
		version := &spec.Versions[i]
		if version.Schema == nil || version.Schema.OpenAPIV3Schema == nil {
			continue
		}
		path := field.NewPath("spec", "versions").Index(i).Child("schema", "openAPIV3Schema")
		found, err := structuralViolations(path, version.Schema)
		if err != nil {
			return &condition{
				Type:    apiextensionsv1.NonStructuralSchema,
				Status:  apiextensionsv1.ConditionUnknown,
				Reason:  "StructuralError",
				Message: fmt.Sprintf("failed to check validation schema for version %s: %v", version.Name, err),
			}
		}
		violations = append(violations, found...)
	}
	if len(violations) == 0 {
		return nil
	}
	return &condition{
		Type:    apiextensionsv1.NonStructuralSchema,
		Status:  apiextensionsv1.ConditionTrue,
		Reason:  "Violations",
		Message: violations.ToAggregate().Error(),
	}
}

func structuralViolations(path *field.Path, schema *apiextensionsv1.CustomResourceValidation) (field.ErrorList, error) {
	internal := &apiextensions.CustomResourceValidation{}
	if err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(schema, internal, nil); err != nil {
		return nil, err
	}
	structural, err := structuralschema.NewStructural(internal.OpenAPIV3Schema)
	if err != nil {
		return nil, err
	}
	return structuralschema.ValidateStructural(path, structural), nil
}
