package policies

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	"k8s.io/apiserver/pkg/cel/environment"
)

// Variables returns the variables of a policy as the compiler takes them.
func Variables(variables []admissionregistrationv1.Variable) []cel.NamedExpressionAccessor {
	expressions := make([]cel.NamedExpressionAccessor, len(variables))
	for i, v := range variables {
		expressions[i] = &validating.Variable{Name: v.Name, Expression: v.Expression}
	}
	return expressions
}

// MatchConditions compiles the match conditions of a policy. The result is nil if there
// are none.
func MatchConditions(compiler *cel.CompositedCompiler, conditions []admissionregistrationv1.MatchCondition,
	known cel.OptionalVariableDeclarations, failurePolicy *admissionregistrationv1.FailurePolicyType, policy string,
) matchconditions.Matcher {
	if len(conditions) == 0 {
		return nil
	}
	expressions := make([]cel.ExpressionAccessor, len(conditions))
	for i := range conditions {
		expressions[i] = (*matchconditions.MatchCondition)(&conditions[i])
	}
	compiled := compiler.CompileCondition(expressions, known, environment.StoredExpressions)
	// The kind and type are what upstream's plugins of both kinds say in metrics.
	return matchconditions.NewMatcher(compiled, failurePolicy, "policy", "validate", policy)
}
