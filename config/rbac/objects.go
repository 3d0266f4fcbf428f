package rbac

import (
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Object is what this package hands out: roles and bindings, with and without a
// namespace, of rbac.authorization.k8s.io/v1.
type Object interface {
	metav1.Object
	runtime.Object
}

// all is the "*" of a rule, in whatever field it stands.
const all = "*"

func clusterRole(name string, rules ...rbacv1.PolicyRule) *rbacv1.ClusterRole {
	return &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules}
}

// clusterBinding binds the ClusterRole called role to subjects.
func clusterBinding(name, role string, subjects ...rbacv1.Subject) *rbacv1.ClusterRoleBinding {
	return &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects:   subjects,
	}
}

func groups(names ...string) []rbacv1.Subject {
	subjects := make([]rbacv1.Subject, 0, len(names))
	for _, name := range names {
		subjects = append(subjects, rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: name})
	}
	return subjects
}

// on is a rule for resources of one API group.
func on(group string, resources []string, verbs ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: resources, Verbs: verbs}
}

// named is on for objects of the given names only.
func named(group string, resources, names []string, verbs ...string) rbacv1.PolicyRule {
	rule := on(group, resources, verbs...)
	rule.ResourceNames = names
	return rule
}

// at is a rule for a URL that is no resource.
func at(path string, verbs ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{NonResourceURLs: []string{path}, Verbs: verbs}
}
