package policies

import (
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// as returns the workspace with the clients of a user by token.
func (w *workspace) as(t testing.TB, token string) *workspace {
	t.Helper()
	user := &workspace{server: w.server, path: w.path, cluster: w.cluster, warnings: &warnings{}}
	user.config = w.server.As(t, token, w.cluster)
	user.connect(t)
	return user
}

func grantOf(group, resource string, verbs ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: verbs}
}

// grant lets a user into the workspace and gives him rules, in a role called name.
func (w *workspace) grant(t testing.TB, user, name string, rules ...rbacv1.PolicyRule) {
	t.Helper()
	rules = append(rules, rbacv1.PolicyRule{NonResourceURLs: []string{"/"}, Verbs: []string{"access"}})
	meta := metav1.ObjectMeta{Name: name + "-" + user}
	role := &rbacv1.ClusterRole{ObjectMeta: meta, Rules: rules}
	if _, err := w.kube.RbacV1().ClusterRoles().Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: meta,
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: meta.Name},
	}
	if _, err := w.kube.RbacV1().ClusterRoleBindings().Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}
