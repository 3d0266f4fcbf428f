package authz

import (
	"context"
	"errors"
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac"
)

// ruleVisitor is the callback of upstream's rule resolvers. source and rule are only
// good during the call; rule is nil if err is not.
type ruleVisitor = func(source fmt.Stringer, rule *rbacv1.PolicyRule, err error) bool

// ruleSource is the part of upstream's rule resolvers that authorization takes.
type ruleSource interface {
	VisitRulesFor(ctx context.Context, u user.Info, namespace string, visit ruleVisitor)
}

// ruling is what the rules of one source make of a request.
type ruling struct {
	allowed bool
	reason  string
}

// judge says whether a rule of source allows one of identities what attributes ask
// for. As in upstream, a role that cannot be found grants nothing and is no error.
// The reason is put together only if explain is set: it costs more than the rest.
func judge(ctx context.Context, source ruleSource, identities []user.Info, attributes authorizer.Attributes, explain bool) ruling {
	var (
		result   ruling
		problems []error
	)
	visit := func(from fmt.Stringer, rule *rbacv1.PolicyRule, err error) bool {
		if rule != nil && rbac.RuleAllows(attributes, rule) {
			result.allowed = true
			if explain {
				result.reason = "RBAC: allowed by " + from.String()
			}
			return false
		}
		if err != nil && explain {
			problems = append(problems, err)
		}
		return true
	}
	for _, identity := range identities {
		source.VisitRulesFor(ctx, identity, attributes.GetNamespace(), visit)
		if result.allowed {
			return result
		}
	}
	if len(problems) > 0 {
		result.reason = "RBAC: " + errors.Join(problems...).Error()
	}
	return result
}
