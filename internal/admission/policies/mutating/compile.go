package mutating

import (
	"fmt"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating/patch"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/forkless/kcp/internal/admission/policies"
)

// compile compiles a policy. Upstream's function that does is not exported; everything
// it is made of is. Errors come out when the policy is evaluated.
func compile(policy *mutating.Policy) mutating.PolicyEvaluator {
	spec := &policy.Spec
	known := cel.OptionalVariableDeclarations{HasParams: spec.ParamKind != nil, HasAuthorizer: true}
	compiler, err := policies.Compiler(spec.Variables, known)
	if err != nil {
		return mutating.PolicyEvaluator{Error: &apiservercel.Error{
			Type: apiservercel.ErrorTypeInternal, Detail: fmt.Sprintf("failed to initialize CEL compiler: %v", err),
		}}
	}
	evaluator := mutating.PolicyEvaluator{
		Matcher:            policies.MatchConditions(compiler, spec.MatchConditions, known, spec.FailurePolicy, policy.Name),
		CompositedCompiler: compiler,
	}
	known.HasPatchTypes = true
	for i := range spec.Mutations {
		if patcher := patcherOf(compiler, &spec.Mutations[i], known); patcher != nil {
			evaluator.Mutators = append(evaluator.Mutators, patcher)
		}
	}
	return evaluator
}

// patcherOf returns nil for a mutation that validation does not let through. The
// dispatcher notices that one is missing.
func patcherOf(compiler *cel.CompositedCompiler, mutation *admissionregistrationv1.Mutation, known cel.OptionalVariableDeclarations) patch.Patcher {
	switch {
	case mutation.PatchType == admissionregistrationv1.PatchTypeJSONPatch && mutation.JSONPatch != nil:
		condition := &patch.JSONPatchCondition{Expression: mutation.JSONPatch.Expression}
		return patch.NewJSONPatcher(compiler.CompileMutatingEvaluator(condition, known, environment.StoredExpressions))
	case mutation.PatchType == admissionregistrationv1.PatchTypeApplyConfiguration && mutation.ApplyConfiguration != nil:
		condition := &patch.ApplyConfigurationCondition{Expression: mutation.ApplyConfiguration.Expression}
		return patch.NewApplyConfigurationPatcher(compiler.CompileMutatingEvaluator(condition, known, environment.StoredExpressions))
	default:
		return nil
	}
}
