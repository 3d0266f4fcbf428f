package apiexport

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/forkless/kcp/internal/admission/claim"
	"github.com/forkless/kcp/internal/apiversions"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
)

func validate(spec *apisv1alpha2.APIExportSpec, needsIdentity func(schema.GroupResource) bool) field.ErrorList {
	errs := validateResources(spec.Resources, field.NewPath("spec", "resources"))
	path, seen := field.NewPath("spec", "permissionClaims"), sets.New[schema.GroupResource]()
	for i := range spec.PermissionClaims {
		c, path := &spec.PermissionClaims[i], path.Index(i)
		resource := schema.GroupResource{Group: c.Group, Resource: c.Resource}
		if seen.Has(resource) {
			errs = append(errs, field.Duplicate(path, resource.String()))
		}
		seen.Insert(resource)
		if c.IdentityHash == "" && needsIdentity(resource) {
			errs = append(errs, field.Required(path.Child("identityHash"), "identityHash is required for API types that are not built-in"))
		}
		errs = append(errs, claim.Validate(c, path)...)
	}
	return errs
}

func validateResources(resources []apisv1alpha2.ResourceSchema, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := sets.New[schema.GroupResource]()
	for i := range resources {
		r, path := &resources[i], path.Index(i)
		resource := schema.GroupResource{Group: r.Group, Resource: r.Name}
		if seen.Has(resource) {
			errs = append(errs, field.Invalid(path, r.Schema, "duplicate resource schema for "+resource.String()))
		}
		seen.Insert(resource)
		suffix := apiversions.SchemaSuffix(r.Name, r.Group)
		if prefix, ok := strings.CutSuffix(r.Schema, suffix); !ok || prefix == "" || r.Name == "" {
			errs = append(errs, field.Invalid(path.Child("schema"), r.Schema, "must end in "+suffix))
		}
		if (r.Storage.CRD != nil) == (r.Storage.Virtual != nil) {
			errs = append(errs, field.Invalid(path.Child("storage"), field.OmitValueType{}, "exactly one of crd or virtual must be set"))
		}
	}
	return errs
}
