package mutating

import (
	"context"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating/patch"
	"k8s.io/kubernetes/pkg/apis/admissionregistration"
	conversion "k8s.io/kubernetes/pkg/apis/admissionregistration/v1"

	"github.com/forkless/kcp/internal/admission/configurations"
	"github.com/forkless/kcp/internal/admission/policies"
	"github.com/forkless/kcp/internal/admission/request"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Name of the plugin.
const Name = "KCPMutatingAdmissionPolicy"

// Source has the policies of all workspaces.
type Source = policies.Source[*mutating.Policy, *mutating.PolicyBinding, mutating.PolicyEvaluator]

// NewSource returns a Source of what index knows.
func NewSource(index *configurations.Index) *Source {
	return policies.NewSource(index, policies.Kind[*mutating.Policy, *mutating.PolicyBinding, mutating.PolicyEvaluator]{
		Policies:        configurations.MutatingPolicies,
		Bindings:        configurations.MutatingPolicyBindings,
		Policy:          policy,
		Binding:         binding,
		PolicyAccessor:  mutating.NewMutatingAdmissionPolicyAccessor,
		BindingAccessor: mutating.NewMutatingAdmissionPolicyBindingAccessor,
		Spec:            func(policy *mutating.Policy) any { return &policy.Spec },
		Compile:         compile,
	})
}

// Structure returns what knows the structure of the objects of a kind in a cluster, or
// nil if there is no such kind.
type Structure func(cluster logicalcluster.Name, kind schema.GroupVersionKind) managedfields.TypeConverter

// Plugin is the plugin.
type Plugin struct {
	*admission.Handler
	source    *Source
	access    *policies.Access
	structure Structure
}

var _ admission.MutationInterface = (*Plugin)(nil)

// New returns the plugin.
func New(access *policies.Access, structure Structure) *Plugin {
	return &Plugin{
		// A deletion has no body that could be changed.
		Handler:   admission.NewHandler(admission.Connect, admission.Create, admission.Update),
		source:    NewSource(access.Sources.Index),
		access:    access,
		structure: structure,
	}
}

// Admit changes the object as the policies of the workspace say.
func (p *Plugin) Admit(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	hooks, cluster, err := p.source.For(ctx, a)
	if err != nil || len(hooks) == 0 {
		return err
	}
	matcher, err := p.access.Matcher(ctx)
	if err != nil {
		return err
	}
	here, err := request.Cluster(ctx)
	if err != nil {
		return err
	}
	hooks = policies.WithParams(ctx, p.access, cluster, hooks, mutating.NewMutatingAdmissionPolicyAccessor)
	// The object is one of the request's cluster, whosever the policies are.
	converters := converters{cluster: here, structure: p.structure}
	return mutating.NewDispatcher(p.access.AuthorizerOf(ctx), matcher, converters).Dispatch(ctx, a, o, hooks)
}

// converters is the converters of one cluster. Upstream's manager asks a server
// every five seconds for its OpenAPI documents; here what is served is known.
type converters struct {
	cluster   logicalcluster.Name
	structure Structure
}

var _ patch.TypeConverterManager = converters{}

// GetTypeConverter implements patch.TypeConverterManager.
func (m converters) GetTypeConverter(kind schema.GroupVersionKind) managedfields.TypeConverter {
	return m.structure(m.cluster, kind)
}

// Run implements patch.TypeConverterManager. There is nothing to keep up to date.
func (converters) Run(context.Context) {}

func policy(stored runtime.Object) (*admissionregistrationv1.MutatingAdmissionPolicy, error) {
	return policies.Served(stored, &admissionregistrationv1.MutatingAdmissionPolicy{},
		func(in *admissionregistration.MutatingAdmissionPolicy, out *admissionregistrationv1.MutatingAdmissionPolicy) error {
			return conversion.Convert_admissionregistration_MutatingAdmissionPolicy_To_v1_MutatingAdmissionPolicy(in, out, nil)
		})
}

func binding(stored runtime.Object) (*admissionregistrationv1.MutatingAdmissionPolicyBinding, error) {
	return policies.Served(stored, &admissionregistrationv1.MutatingAdmissionPolicyBinding{},
		func(in *admissionregistration.MutatingAdmissionPolicyBinding, out *admissionregistrationv1.MutatingAdmissionPolicyBinding) error {
			return conversion.Convert_admissionregistration_MutatingAdmissionPolicyBinding_To_v1_MutatingAdmissionPolicyBinding(in, out, nil)
		})
}
