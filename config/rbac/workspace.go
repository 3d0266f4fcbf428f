package rbac

import rbacv1 "k8s.io/api/rbac/v1"

// WorkspaceAdmin returns the binding that makes the creator of a workspace its admin.
func WorkspaceAdmin(creator string) *rbacv1.ClusterRoleBinding {
	return clusterBinding(WorkspaceAdminBinding, ClusterAdmin, rbacv1.Subject{
		APIGroup: rbacv1.GroupName,
		Kind:     rbacv1.UserKind,
		Name:     creator,
	})
}
