package validating

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/forkless/kcp/internal/admission/policies"
)

// compile compiles a policy. Upstream's function that does is not exported; everything
// it is made of is. Errors come out when the policy is evaluated, as its failurePolicy
// says.
func compile(policy *validating.Policy) validating.Validator {
	spec := &policy.Spec
	hasParams := spec.ParamKind != nil
	known := cel.OptionalVariableDeclarations{HasParams: hasParams, HasAuthorizer: true}
	compiler, err := policies.Compiler(spec.Variables, known)
	if err != nil {
		return validating.NewValidator(nil, nil, nil, nil, spec.FailurePolicy, err)
	}
	// Messages must not depend on what the caller may do.
	knownToMessages := cel.OptionalVariableDeclarations{HasParams: hasParams}
	conditions := func(expressions []cel.ExpressionAccessor, known cel.OptionalVariableDeclarations) cel.ConditionEvaluator {
		return compiler.CompileCondition(expressions, known, environment.StoredExpressions)
	}

	matcher := policies.MatchConditions(compiler, spec.MatchConditions, known, spec.FailurePolicy, policy.Name)
	return validating.NewValidator(
		conditions(validations(spec.Validations), known),
		matcher,
		conditions(auditAnnotations(spec.AuditAnnotations), known),
		conditions(messages(spec.Validations), knownToMessages),
		spec.FailurePolicy,
		nil,
	)
}

func validations(all []admissionregistrationv1.Validation) []cel.ExpressionAccessor {
	expressions := make([]cel.ExpressionAccessor, len(all))
	for i, v := range all {
		expressions[i] = &validating.ValidationCondition{Expression: v.Expression, Message: v.Message, Reason: v.Reason}
	}
	return expressions
}

// messages returns one expression for each validation, nil for those without.
func messages(all []admissionregistrationv1.Validation) []cel.ExpressionAccessor {
	expressions := make([]cel.ExpressionAccessor, len(all))
	for i, v := range all {
		if v.MessageExpression != "" {
			expressions[i] = &validating.MessageExpressionCondition{MessageExpression: v.MessageExpression}
		}
	}
	return expressions
}

func auditAnnotations(all []admissionregistrationv1.AuditAnnotation) []cel.ExpressionAccessor {
	expressions := make([]cel.ExpressionAccessor, len(all))
	for i, a := range all {
		expressions[i] = &validating.AuditAnnotationCondition{Key: a.Key, ValueExpression: a.ValueExpression}
	}
	return expressions
}
