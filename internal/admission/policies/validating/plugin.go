package validating

import (
	"context"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/policy/generic"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/kubernetes/pkg/apis/admissionregistration"
	conversion "k8s.io/kubernetes/pkg/apis/admissionregistration/v1"

	"github.com/forkless/kcp/internal/admission/configurations"
	"github.com/forkless/kcp/internal/admission/policies"
)

// Name of the plugin.
const Name = "KCPValidatingAdmissionPolicy"

// Source has the policies of all workspaces.
type Source = policies.Source[*validating.Policy, *validating.PolicyBinding, validating.Validator]

// NewSource returns a Source of what index knows.
func NewSource(index *configurations.Index) *Source {
	return policies.NewSource(index, policies.Kind[*validating.Policy, *validating.PolicyBinding, validating.Validator]{
		Policies:        configurations.ValidatingPolicies,
		Bindings:        configurations.ValidatingPolicyBindings,
		Policy:          Policy,
		Binding:         binding,
		PolicyAccessor:  validating.NewValidatingAdmissionPolicyAccessor,
		BindingAccessor: validating.NewValidatingAdmissionPolicyBindingAccessor,
		Spec:            func(policy *validating.Policy) any { return &policy.Spec },
		Compile:         compile,
	})
}

// Plugin is the plugin.
type Plugin struct {
	*admission.Handler
	source *Source
	access *policies.Access
}

var _ admission.ValidationInterface = (*Plugin)(nil)

// New returns the plugin.
func New(access *policies.Access) *Plugin {
	return &Plugin{
		Handler: admission.NewHandler(admission.Connect, admission.Create, admission.Delete, admission.Update),
		source:  NewSource(access.Sources.Index),
		access:  access,
	}
}

// Validate refuses what the policies of the workspace deny.
func (p *Plugin) Validate(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	hooks, cluster, err := p.source.For(ctx, a)
	if err != nil || len(hooks) == 0 {
		return err
	}
	matcher, err := p.access.Matcher(ctx)
	if err != nil {
		return err
	}
	hooks = policies.WithParams(ctx, p.access, cluster, hooks, validating.NewValidatingAdmissionPolicyAccessor)
	return validating.NewDispatcher(p.access.AuthorizerOf(ctx), generic.NewPolicyMatcher(matcher)).Dispatch(ctx, a, o, hooks)
}

// Policy returns a stored policy as it is served. The two share memory.
func Policy(stored runtime.Object) (*admissionregistrationv1.ValidatingAdmissionPolicy, error) {
	return policies.Served(stored, &admissionregistrationv1.ValidatingAdmissionPolicy{},
		func(in *admissionregistration.ValidatingAdmissionPolicy, out *admissionregistrationv1.ValidatingAdmissionPolicy) error {
			return conversion.Convert_admissionregistration_ValidatingAdmissionPolicy_To_v1_ValidatingAdmissionPolicy(in, out, nil)
		})
}

func binding(stored runtime.Object) (*admissionregistrationv1.ValidatingAdmissionPolicyBinding, error) {
	return policies.Served(stored, &admissionregistrationv1.ValidatingAdmissionPolicyBinding{},
		func(in *admissionregistration.ValidatingAdmissionPolicyBinding, out *admissionregistrationv1.ValidatingAdmissionPolicyBinding) error {
			return conversion.Convert_admissionregistration_ValidatingAdmissionPolicyBinding_To_v1_ValidatingAdmissionPolicyBinding(in, out, nil)
		})
}
