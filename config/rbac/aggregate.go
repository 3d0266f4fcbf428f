package rbac

import (
	"cmp"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// aggregate gives the roles that have an aggregation rule the rules of the roles that
// it selects, by name, each once. In Kubernetes a controller does so; here the roles
// are complete from the first request on, whether or not one runs.
func aggregate(roles []rbacv1.ClusterRole) {
	order := make([]*rbacv1.ClusterRole, 0, len(roles))
	for i := range roles {
		order = append(order, &roles[i])
	}
	slices.SortFunc(order, func(a, b *rbacv1.ClusterRole) int { return cmp.Compare(a.Name, b.Name) })

	// Aggregated roles select aggregated roles (admin has all of edit, which has all
	// of view), so one pass is not enough.
	for changed := true; changed; {
		changed = false
		for _, role := range order {
			if role.AggregationRule == nil {
				continue
			}
			if gathered := gather(role, order); len(gathered) != len(role.Rules) {
				role.Rules, changed = gathered, true
			}
		}
	}
}

// gather returns the rules that role's aggregation rule selects from roles.
func gather(role *rbacv1.ClusterRole, roles []*rbacv1.ClusterRole) []rbacv1.PolicyRule {
	var gathered []rbacv1.PolicyRule
	for i := range role.AggregationRule.ClusterRoleSelectors {
		selector, err := metav1.LabelSelectorAsSelector(&role.AggregationRule.ClusterRoleSelectors[i])
		if err != nil {
			// The selectors are constants of upstream's.
			panic(err)
		}
		for _, candidate := range roles {
			if candidate == role || !selector.Matches(labels.Set(candidate.Labels)) {
				continue
			}
			for _, rule := range candidate.Rules {
				if !contains(gathered, rule) {
					gathered = append(gathered, rule)
				}
			}
		}
	}
	return gathered
}

// contains says whether rule is among rules. It runs for every pair of them at each
// start of a server, so it does without reflection.
func contains(rules []rbacv1.PolicyRule, rule rbacv1.PolicyRule) bool {
	return slices.ContainsFunc(rules, func(r rbacv1.PolicyRule) bool {
		return slices.Equal(r.Resources, rule.Resources) &&
			slices.Equal(r.Verbs, rule.Verbs) &&
			slices.Equal(r.APIGroups, rule.APIGroups) &&
			slices.Equal(r.ResourceNames, rule.ResourceNames) &&
			slices.Equal(r.NonResourceURLs, rule.NonResourceURLs)
	})
}
