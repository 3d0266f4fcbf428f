package clusterroleaggregation

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/kubernetes/pkg/apis/rbac"
)

// Rules returns the rules that role has to have, given the roles of its workspace, which
// are sorted by name. changed says whether these are other rules than it has. It is not
// called for roles without an aggregation rule.
func Rules(role *rbac.ClusterRole, sorted []rbac.ClusterRole) (rules []rbac.PolicyRule, changed bool, err error) {
	for i := range role.AggregationRule.ClusterRoleSelectors {
		selector, err := metav1.LabelSelectorAsSelector(&role.AggregationRule.ClusterRoleSelectors[i])
		if err != nil {
			return nil, false, fmt.Errorf("selector %d of the aggregation rule: %w", i, err)
		}
		for j := range sorted {
			if candidate := &sorted[j]; candidate.Name != role.Name && selector.Matches(labels.Set(candidate.Labels)) {
				rules = gather(rules, candidate.Rules)
			}
		}
	}
	return rules, !equality.Semantic.DeepEqual(rules, role.Rules), nil
}

// gather appends the rules that are not there yet.
func gather(rules, more []rbac.PolicyRule) []rbac.PolicyRule {
	for _, rule := range more {
		if !slices.ContainsFunc(rules, func(r rbac.PolicyRule) bool { return equality.Semantic.DeepEqual(r, rule) }) {
			rules = append(rules, rule)
		}
	}
	return rules
}
