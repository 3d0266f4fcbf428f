package apiresourceschema

import (
	"context"
	"regexp"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/forkless/kcp/internal/apiversions"
	"github.com/forkless/kcp/internal/schema"
	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// core is what definitions and names of schemas call the core group, and specs of schemas
// must not.
const core = "core"

// prefix is what the first part of the name of a schema looks like.
var prefix = regexp.MustCompile(`^[a-z]([-a-z0-9]*[a-z0-9])?$`)

// validate checks a new schema.
func validate(ctx context.Context, s *apisv1alpha1.APIResourceSchema) field.ErrorList {
	errs := validateName(s)
	names := field.NewPath("spec", "names")
	if s.Spec.Group == core {
		errs = append(errs, field.Invalid(field.NewPath("spec", "group"), s.Spec.Group, "must be empty string for the core group"))
	}
	// The definition would get defaults for these.
	if s.Spec.Names.Singular == "" {
		errs = append(errs, field.Required(names.Child("singular"), ""))
	}
	if s.Spec.Names.ListKind == "" {
		errs = append(errs, field.Required(names.Child("listKind"), ""))
	}
	return append(errs, validateDefinition(ctx, s)...)
}

// validateName checks that the name says which resource the schema is for.
func validateName(s *apisv1alpha1.APIResourceSchema) field.ErrorList {
	path := field.NewPath("metadata", "name")
	suffix := apiversions.SchemaSuffix(s.Spec.Names.Plural, s.Spec.Group)
	first, ok := strings.CutSuffix(s.Name, suffix)
	switch {
	case !ok:
		return field.ErrorList{field.Invalid(path, s.Name, "must end in "+suffix)}
	case !prefix.MatchString(first):
		return field.ErrorList{field.Invalid(path, s.Name, "must match "+prefix.String()+" before "+suffix)}
	default:
		return nil
	}
}

// validateApproval checks that a schema in a group of the Kubernetes project says who has
// approved of it.
func validateApproval(s *apisv1alpha1.APIResourceSchema) field.ErrorList {
	if !apihelpers.IsProtectedCommunityGroup(s.Spec.Group) {
		return nil
	}
	path := field.NewPath("metadata", "annotations").Key(apiextensionsv1.KubeAPIApprovedAnnotation)
	switch state, reason := apihelpers.GetAPIApprovalState(s.Annotations); state {
	case apihelpers.APIApproved, apihelpers.APIApprovalBypassed:
		return nil
	case apihelpers.APIApprovalMissing:
		return field.ErrorList{field.Required(path, reason)}
	default:
		return field.ErrorList{field.Invalid(path, s.Annotations[apiextensionsv1.KubeAPIApprovedAnnotation], reason)}
	}
}

// validateDefinition checks the definition that s becomes when it is bound.
func validateDefinition(ctx context.Context, s *apisv1alpha1.APIResourceSchema) field.ErrorList {
	s = s.DeepCopy()
	// A definition is made of a stored schema only. Which one it is does not matter here.
	s.UID = types.UID(s.Name)
	crd, err := schema.BoundCRD(s, logicalcluster.Root, nil)
	if err != nil {
		return field.ErrorList{field.Invalid(field.NewPath("spec"), field.OmitValueType{}, err.Error())}
	}
	if crd.Spec.Group == "" {
		crd.Spec.Group = core
	}
	crd.Name = crd.Spec.Names.Plural + "." + crd.Spec.Group
	internal := &apiextensions.CustomResourceDefinition{}
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(crd, internal, nil); err != nil {
		return field.ErrorList{field.Invalid(field.NewPath("spec"), field.OmitValueType{}, err.Error())}
	}
	var errs field.ErrorList
	for _, err := range validation.ValidateCustomResourceDefinition(ctx, internal) {
		if concernsSchema(err, crd.Spec.Group) {
			err.Field = inSchema(err.Field)
			errs = append(errs, err)
		}
	}
	return errs
}

// concernsSchema says whether an error about the definition is one about the schema too.
func concernsSchema(err *field.Error, group string) bool {
	switch {
	case err.Field == "spec.group" && err.Detail == "should be a domain with at least one dot":
		return !schema.MayLackDot(group)
	case err.Field == "metadata.name":
		// The definition is called after what is checked by itself.
		return false
	default:
		// What was accepted follows from the spec.
		return !strings.HasPrefix(err.Field, "status.")
	}
}

// Where upstream's internal form has what all versions have in common.
var common = []struct{ of, at string }{
	{"spec.validation.openAPIV3Schema", "spec.versions[0].schema"},
	{"spec.subresources", "spec.versions[0].subresources"},
	{"spec.additionalPrinterColumns", "spec.versions[0].additionalPrinterColumns"},
	{"spec.selectableFields", "spec.versions[0].selectableFields"},
}

// inSchema returns the path in a schema of what is at path in the definition.
func inSchema(path string) string {
	for _, moved := range common {
		if rest, ok := strings.CutPrefix(path, moved.of); ok {
			return moved.at + rest
		}
	}
	return strings.Replace(path, ".schema.openAPIV3Schema", ".schema", 1)
}
