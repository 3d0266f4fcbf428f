package admission

import (
	"context"

	"k8s.io/apiserver/pkg/admission"
)

// reinvoking runs the mutating plugins once more if one of them has asked for it, as
// webhooks and policies do when the object has been changed after they saw it. Upstream
// has the same, but exports it only together with the reading of plugins from files.
type reinvoking struct {
	chain interface {
		admission.MutationInterface
		admission.ValidationInterface
	}
}

// Handles says whether any plugin handles operation.
func (r reinvoking) Handles(operation admission.Operation) bool { return r.chain.Handles(operation) }

// Admit runs the mutating plugins, twice at most.
func (r reinvoking) Admit(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	if err := r.chain.Admit(ctx, a, o); err != nil {
		return err
	}
	reinvocation := a.GetReinvocationContext()
	if !reinvocation.ShouldReinvoke() {
		return nil
	}
	reinvocation.SetIsReinvoke()
	return r.chain.Admit(ctx, a, o)
}

// Validate runs the validating plugins.
func (r reinvoking) Validate(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	return r.chain.Validate(ctx, a, o)
}
