package apiresourceschema

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/admission"

	"github.com/forkless/kcp/internal/admission/request"
	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
)

// Name of the plugin, which clients of kcp know it by.
const Name = "tenancy.kcp.io/APIResourceSchema"

// Plugin is the plugin.
type Plugin struct{ *admission.Handler }

var _ admission.ValidationInterface = &Plugin{}

// New returns the plugin.
func New() *Plugin { return &Plugin{admission.NewHandler(admission.Create, admission.Update)} }

// Validate checks a new or changed schema.
func (p *Plugin) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if a.GetResource().GroupResource() != apisv1alpha1.Resource("apiresourceschemas") || a.GetSubresource() != "" {
		return nil
	}
	schema, err := request.As[apisv1alpha1.APIResourceSchema](a.GetObject())
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	var errs field.ErrorList
	if a.GetOperation() == admission.Update {
		old, err := request.As[apisv1alpha1.APIResourceSchema](a.GetOldObject())
		if err != nil {
			return apierrors.NewInternalError(err)
		}
		errs = validateUpdate(schema, old)
	} else {
		errs = validate(ctx, schema)
	}
	if err := errs.ToAggregate(); err != nil {
		return request.Denied(a, "%w", err)
	}
	return nil
}

// validateUpdate does not look at the spec a second time: what was right when it was
// created must not hold up a change of its labels after the rules have become stricter.
func validateUpdate(schema, old *apisv1alpha1.APIResourceSchema) field.ErrorList {
	errs := validateApproval(schema)
	// As Go types, for which a list that is empty is the same as none.
	if !equality.Semantic.DeepEqual(schema.Spec, old.Spec) {
		errs = append(errs, field.Invalid(field.NewPath("spec"), field.OmitValueType{}, "is immutable"))
	}
	return errs
}
