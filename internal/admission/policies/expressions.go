package policies

import (
	"sync"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	"k8s.io/apiserver/pkg/cel/environment"
)

// Compiler returns what compiles the expressions of a policy, which may refer to
// variables. Expressions of variables that are wrong come out when the policy is
// evaluated.
//
// A compiler takes several times the memory of what it compiles, and keeps nothing but
// variables. All policies without variables have the same one.
func Compiler(variables []admissionregistrationv1.Variable, known cel.OptionalVariableDeclarations) (*cel.CompositedCompiler, error) {
	if len(variables) == 0 {
		return withoutVariables()
	}
	compiler, err := newCompiler()
	if err != nil {
		return nil, err
	}
	expressions := make([]cel.NamedExpressionAccessor, len(variables))
	for i, v := range variables {
		expressions[i] = &validating.Variable{Name: v.Name, Expression: v.Expression}
	}
	compiler.CompileAndStoreVariables(expressions, known, environment.StoredExpressions)
	return compiler, nil
}

var withoutVariables = sync.OnceValues(newCompiler)

func newCompiler() (*cel.CompositedCompiler, error) {
	return cel.NewCompositedCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
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
