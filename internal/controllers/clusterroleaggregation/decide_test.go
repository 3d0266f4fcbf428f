package clusterroleaggregation

import (
	"cmp"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/pkg/apis/rbac"
	rbacconversion "k8s.io/kubernetes/pkg/apis/rbac/v1"

	config "github.com/forkless/kcp/config/rbac"
)

func rule(verb string) rbac.PolicyRule {
	return rbac.PolicyRule{Verbs: []string{verb}, APIGroups: []string{""}, Resources: []string{"configmaps"}}
}

func role(name, label string, rules ...rbac.PolicyRule) rbac.ClusterRole {
	return rbac.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{label: "true"}}, Rules: rules}
}

func aggregated(name, label string, selected []string, rules ...rbac.PolicyRule) rbac.ClusterRole {
	r := role(name, label, rules...)
	r.AggregationRule = &rbac.AggregationRule{}
	for _, label := range selected {
		r.AggregationRule.ClusterRoleSelectors = append(r.AggregationRule.ClusterRoleSelectors,
			metav1.LabelSelector{MatchLabels: map[string]string{label: "true"}})
	}
	return r
}

func TestRules(t *testing.T) {
	cases := map[string]struct {
		reason  string
		role    rbac.ClusterRole
		others  []rbac.ClusterRole
		want    []rbac.PolicyRule
		changed bool
	}{
		"Gathers": {
			"what is selected, by name",
			aggregated("all", "", []string{"x"}),
			[]rbac.ClusterRole{role("b", "x", rule("update")), role("a", "x", rule("get")), role("c", "y", rule("delete"))},
			[]rbac.PolicyRule{rule("get"), rule("update")}, true,
		},
		"SelectorsInOrder": {
			"the order of selectors comes before that of names",
			aggregated("all", "", []string{"y", "x"}),
			[]rbac.ClusterRole{role("a", "x", rule("get")), role("c", "y", rule("delete"))},
			[]rbac.PolicyRule{rule("delete"), rule("get")}, true,
		},
		"Once": {
			"two roles may say the same",
			aggregated("all", "", []string{"x"}),
			[]rbac.ClusterRole{role("a", "x", rule("get")), role("b", "x", rule("get"))},
			[]rbac.PolicyRule{rule("get")}, true,
		},
		"NotItself": {
			"a role that selects itself would keep what it once had",
			aggregated("all", "x", []string{"x"}, rule("delete")),
			[]rbac.ClusterRole{role("a", "x", rule("get"))},
			[]rbac.PolicyRule{rule("get")}, true,
		},
		"Same": {
			"what is there already is not written again",
			aggregated("all", "", []string{"x"}, rule("get")),
			[]rbac.ClusterRole{role("a", "x", rule("get"))},
			[]rbac.PolicyRule{rule("get")}, false,
		},
		"Emptied": {
			"rights go with the role that gave them",
			aggregated("all", "", []string{"x"}, rule("get")),
			nil,
			nil, true,
		},
		"HandWritten": {
			"rules of an aggregated role are overwritten",
			aggregated("all", "", []string{"x"}, rule("get"), rule("delete")),
			[]rbac.ClusterRole{role("a", "x", rule("get"))},
			[]rbac.PolicyRule{rule("get")}, true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			roles := append(slices.Clone(tc.others), tc.role)
			slices.SortFunc(roles, func(a, b rbac.ClusterRole) int { return cmp.Compare(a.Name, b.Name) })
			rules, changed, err := Rules(&tc.role, roles)
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(tc.want, rules); diff != "" {
				t.Errorf("%s:\n%s", tc.reason, diff)
			}
			if changed != tc.changed {
				t.Errorf("%s: changed is %t", tc.reason, changed)
			}
		})
	}
}

// TestBootstrapPolicyIsComplete: what a new installation begins with must not be written
// anew by the controller, and back again by the next start.
func TestBootstrapPolicyIsComplete(t *testing.T) {
	var roles []rbac.ClusterRole
	for _, object := range config.SystemAdmin() {
		if v1, ok := object.(*rbacv1.ClusterRole); ok {
			roles = append(roles, rbac.ClusterRole{})
			if err := rbacconversion.Convert_v1_ClusterRole_To_rbac_ClusterRole(v1, &roles[len(roles)-1], nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	slices.SortFunc(roles, func(a, b rbac.ClusterRole) int { return cmp.Compare(a.Name, b.Name) })
	aggregates := 0
	for i := range roles {
		if roles[i].AggregationRule == nil {
			continue
		}
		aggregates++
		rules, changed, err := Rules(&roles[i], roles)
		if err != nil {
			t.Fatal(err)
		}
		if changed {
			t.Errorf("role %s would be changed:\n%s", roles[i].Name, gocmp.Diff(roles[i].Rules, rules))
		}
	}
	if aggregates == 0 {
		t.Error("no role aggregates")
	}
}

func TestOwn(t *testing.T) {
	now := metav1.Now()
	entry := func(manager, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate,
			APIVersion: managedVersion, FieldsType: "FieldsV1", FieldsV1: &metav1.FieldsV1{Raw: []byte(fields)}}
	}
	ours := entry(manager, `{"f:rules":{}}`)
	ours.Operation, ours.Time = metav1.ManagedFieldsOperationApply, &now
	cases := map[string]struct {
		reason     string
		have, want []metav1.ManagedFieldsEntry
	}{
		"New":   {"nobody owned anything", nil, []metav1.ManagedFieldsEntry{ours}},
		"Again": {"one entry is enough", []metav1.ManagedFieldsEntry{ours}, []metav1.ManagedFieldsEntry{ours}},
		"Others": {
			"who owns something else keeps it",
			[]metav1.ManagedFieldsEntry{entry("kubectl", `{"f:aggregationRule":{}}`)},
			[]metav1.ManagedFieldsEntry{entry("kubectl", `{"f:aggregationRule":{}}`), ours},
		},
		"Taken": {
			"rules that somebody wrote are overwritten, so they are not theirs any more",
			[]metav1.ManagedFieldsEntry{entry("kubectl", `{"f:aggregationRule":{},"f:rules":{}}`), entry("other", `{"f:rules":{}}`)},
			[]metav1.ManagedFieldsEntry{entry("kubectl", `{"f:aggregationRule":{}}`), ours},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := own(tc.have, now)
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s:\n%s", tc.reason, diff)
			}
		})
	}
}
