package catalog

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/admission"

	"github.com/forkless/kcp/internal/schema"
)

var errTerminating = errors.New("create not allowed while custom resource definition is terminating")

// admissionFor returns the admission of writes to what is served.
func (c *Catalog) admissionFor(served schema.Served) admission.Interface {
	if served.Terminating {
		return createRefused{c.config.Admission}
	}
	return c.config.Admission
}

// createRefused refuses creates, also those that a patch or an update turns into, and
// leaves all else to the admission it wraps. Admission is the one place where all of
// them come by.
type createRefused struct{ admission.Interface }

var (
	_ admission.MutationInterface   = createRefused{}
	_ admission.ValidationInterface = createRefused{}
)

// Handles implements admission.Interface.
func (r createRefused) Handles(operation admission.Operation) bool {
	return operation == admission.Create || r.Interface.Handles(operation)
}

// Admit implements admission.MutationInterface.
func (r createRefused) Admit(ctx context.Context, attributes admission.Attributes, objects admission.ObjectInterfaces) error {
	if attributes.GetOperation() == admission.Create {
		return refusal(attributes)
	}
	if mutation, ok := r.Interface.(admission.MutationInterface); ok {
		return mutation.Admit(ctx, attributes, objects)
	}
	return nil
}

// Validate implements admission.ValidationInterface.
func (r createRefused) Validate(ctx context.Context, attributes admission.Attributes, objects admission.ObjectInterfaces) error {
	if attributes.GetOperation() == admission.Create {
		return refusal(attributes)
	}
	if validation, ok := r.Interface.(admission.ValidationInterface); ok {
		return validation.Validate(ctx, attributes, objects)
	}
	return nil
}

func refusal(attributes admission.Attributes) error {
	return apierrors.NewForbidden(attributes.GetResource().GroupResource(), attributes.GetName(), errTerminating)
}
