package authz

import (
	"context"
	"errors"
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/kubernetes/pkg/registry/rbac/validation"

	"github.com/forkless/kcp/internal/authn/identity"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Rules says which rules a user has in the logical cluster of the context, from the
// policy of system:admin and from the workspace's. Upstream's checks that nobody hands
// out more than he has, and SelfSubjectRulesReview (by Reviewable), are built on it.
//
// Under a Mandate the rules are those of the mandate, so that an initializer hands out no
// more than it has been given.
//
// It reads policies only: that a user may not enter the workspace at all is not its
// business.
type Rules struct {
	bootstrap *Bootstrap
	local     Policy
}

var _ validation.AuthorizationRuleResolver = (*Rules)(nil)

// NewRules returns the rules of both policies.
func NewRules(bootstrap *Bootstrap, local Policy) *Rules {
	return &Rules{bootstrap: bootstrap, local: local}
}

// GetRoleReferenceRules implements validation.AuthorizationRuleResolver. A workspace
// may refer to roles of system:admin.
func (r *Rules) GetRoleReferenceRules(ctx context.Context, ref rbacv1.RoleRef, namespace string) ([]rbacv1.PolicyRule, error) {
	return newLocalPolicy(r.local, r.bootstrap.Current()).resolver().GetRoleReferenceRules(ctx, ref, namespace)
}

// RulesFor implements validation.AuthorizationRuleResolver. With an error the rules
// may be incomplete; those returned are valid.
func (r *Rules) RulesFor(ctx context.Context, u user.Info, namespace string) ([]rbacv1.PolicyRule, error) {
	var (
		rules    []rbacv1.PolicyRule
		problems []error
	)
	r.VisitRulesFor(ctx, u, namespace, func(_ fmt.Stringer, rule *rbacv1.PolicyRule, err error) bool {
		if rule != nil {
			rules = append(rules, *rule)
		}
		if err != nil {
			problems = append(problems, err)
		}
		return true
	})
	return rules, errors.Join(problems...)
}

// VisitRulesFor implements validation.AuthorizationRuleResolver. Without a logical
// cluster in the context there are no rules, only an error.
func (r *Rules) VisitRulesFor(ctx context.Context, u user.Info, namespace string, visit ruleVisitor) {
	cluster, err := logicalcluster.Require(ctx)
	if err != nil {
		visit(nil, nil, err)
		return
	}
	if mandate := mandateOf(ctx, cluster, u); mandate != nil {
		for i := range mandate.Rules {
			if !visit(mandate, &mandate.Rules[i], nil) {
				return
			}
		}
		return
	}
	bootstrap := r.bootstrap.Current()
	sources := []ruleSource{bootstrap, newLocalPolicy(r.local, bootstrap).resolver()}

	// The sources do not tell whether they were stopped, so that is noted on the way.
	stopped := false
	visitUntilStopped := func(source fmt.Stringer, rule *rbacv1.PolicyRule, err error) bool {
		stopped = !visit(source, rule, err)
		return !stopped
	}
	for _, source := range sources {
		for _, u := range identity.Effective(u, cluster) {
			source.VisitRulesFor(ctx, u, namespace, visitUntilStopped)
			if stopped {
				return
			}
		}
	}
}

// Reviewable returns the same rules in the form that SelfSubjectRulesReview takes.
func (r *Rules) Reviewable() authorizer.RuleResolver { return reviewable{r} }

type reviewable struct{ rules *Rules }

// RulesFor implements authorizer.RuleResolver. RBAC can always list its rules, so they
// are never incomplete.
func (r reviewable) RulesFor(ctx context.Context, u user.Info, namespace string) (
	[]authorizer.ResourceRuleInfo, []authorizer.NonResourceRuleInfo, bool, error,
) {
	var (
		resources    []authorizer.ResourceRuleInfo
		nonResources []authorizer.NonResourceRuleInfo
	)
	rules, err := r.rules.RulesFor(ctx, u, namespace)
	for _, rule := range rules {
		if len(rule.Resources) > 0 {
			resources = append(resources, &authorizer.DefaultResourceRuleInfo{
				Verbs:         rule.Verbs,
				APIGroups:     rule.APIGroups,
				Resources:     rule.Resources,
				ResourceNames: rule.ResourceNames,
			})
		}
		if len(rule.NonResourceURLs) > 0 {
			nonResources = append(nonResources, &authorizer.DefaultNonResourceRuleInfo{
				Verbs:           rule.Verbs,
				NonResourceURLs: rule.NonResourceURLs,
			})
		}
	}
	return resources, nonResources, false, err
}
