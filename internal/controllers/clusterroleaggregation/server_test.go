package clusterroleaggregation_test

import (
	"slices"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	rbacapply "k8s.io/client-go/applyconfigurations/rbac/v1"
	"k8s.io/client-go/kubernetes"
	rbacclient "k8s.io/client-go/kubernetes/typed/rbac/v1"

	"github.com/forkless/kcp/internal/servertest"
)

const label = "example.com/aggregate-to-all"

func roles(t *testing.T, s *servertest.Server, workspace string) rbacclient.ClusterRoleInterface {
	t.Helper()
	client, err := kubernetes.NewForConfig(s.In(t, "base", workspace))
	if err != nil {
		t.Fatal(err)
	}
	return client.RbacV1().ClusterRoles()
}

func create(t *testing.T, roles rbacclient.ClusterRoleInterface, role *rbacv1.ClusterRole) {
	t.Helper()
	if _, err := roles.Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// part is a role with one verb that goes into those which select the label.
func part(verb string) *rbacv1.ClusterRole {
	return &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "part-" + verb, Labels: map[string]string{label: "true"}},
		Rules:      []rbacv1.PolicyRule{{Verbs: []string{verb}, APIGroups: []string{""}, Resources: []string{"configmaps"}}},
	}
}

func all(name, selected string) *rbacv1.ClusterRole {
	return &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{name: "true"}},
		AggregationRule: &rbacv1.AggregationRule{
			ClusterRoleSelectors: []metav1.LabelSelector{{MatchLabels: map[string]string{selected: "true"}}},
		},
	}
}

func eventually(t *testing.T, roles rbacclient.ClusterRoleInterface, name string, want ...string) {
	t.Helper()
	servertest.Eventually(t, name+" has what it gathers", func() (bool, any) {
		role, err := roles.Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		var verbs []string
		for _, rule := range role.Rules {
			verbs = append(verbs, rule.Verbs...)
		}
		return slices.Equal(verbs, want), verbs
	})
}

func TestRolesGatherInTheirWorkspace(t *testing.T) {
	s := servertest.Start(t)
	s.Workspace(t, "root", "one")
	s.Workspace(t, "root", "two")
	one, two := roles(t, s, "root:one"), roles(t, s, "root:two")

	// Roles may come before those that gather them, and after.
	create(t, one, part("get"))
	create(t, one, all("all", label))
	create(t, one, all("more", "all"))
	create(t, two, all("all", label))
	create(t, two, part("delete"))
	eventually(t, one, "all", "get")
	eventually(t, one, "more", "get")
	create(t, one, part("update"))
	eventually(t, one, "all", "get", "update")
	eventually(t, one, "more", "get", "update")
	eventually(t, two, "all", "delete")

	if err := one.Delete(t.Context(), "part-get", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, one, "more", "update")

	role, err := one.Get(t.Context(), "all", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	role.Rules = nil
	if _, err := one.Update(t.Context(), role, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, one, "all", "update")

	t.Run("RulesAreOwned", func(t *testing.T) {
		apply := rbacapply.ClusterRole("all").WithRules(rbacapply.PolicyRule().WithVerbs("*").WithAPIGroups("*").WithResources("*"))
		_, err := one.Apply(t.Context(), apply, metav1.ApplyOptions{FieldManager: "somebody"})
		if !apierrors.IsConflict(err) {
			t.Errorf("who applies rules that are gathered gets %v, not a conflict", err)
		}
	})
	t.Run("PolicyOfSystemAdminDoesNotGatherHere", func(t *testing.T) {
		create(t, one, &rbacv1.ClusterRole{
			ObjectMeta: metav1.ObjectMeta{Name: "mine", Labels: map[string]string{"rbac.authorization.k8s.io/aggregate-to-view": "true"}},
			Rules:      part("escalate").Rules,
		})
		create(t, one, all("late", label))
		// By now the controller has seen the role before.
		eventually(t, one, "late", "update")
		client, err := kubernetes.NewForConfig(s.In(t, "shard-base", "system:admin"))
		if err != nil {
			t.Fatal(err)
		}
		view, err := client.RbacV1().ClusterRoles().Get(t.Context(), "view", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, rule := range view.Rules {
			if slices.Contains(rule.Verbs, "escalate") {
				t.Error("a workspace added to what a role of system:admin allows")
			}
		}
	})
}
