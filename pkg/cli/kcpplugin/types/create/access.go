package create

import (
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

// accessName returns the name of the ClusterRole that lets its holders use a type, and
// of its binding.
func accessName(typeName string) string { return typeName + "-workspacetype-use" }

// access returns what lets the members of groups use the type called name.
func access(name string, groups []string) (*rbacv1.ClusterRole, *rbacv1.ClusterRoleBinding) {
	version := rbacv1.SchemeGroupVersion.String()
	role := &rbacv1.ClusterRole{
		TypeMeta:   metav1.TypeMeta{APIVersion: version, Kind: "ClusterRole"},
		ObjectMeta: metav1.ObjectMeta{Name: accessName(name)},
		Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{tenancyv1alpha1.GroupName}, Resources: []string{"workspacetypes"}, ResourceNames: []string{name}, Verbs: []string{"use"},
		}},
	}
	binding := &rbacv1.ClusterRoleBinding{
		TypeMeta:   metav1.TypeMeta{APIVersion: version, Kind: "ClusterRoleBinding"},
		ObjectMeta: metav1.ObjectMeta{Name: role.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: role.Kind, Name: role.Name},
	}
	for _, group := range groups {
		binding.Subjects = append(binding.Subjects, rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: group})
	}
	return role, binding
}
