package client

import (
	"context"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

const (
	rbacGroup   = "rbac.authorization.k8s.io"
	rbacVersion = "v1"
)

func rbac(p logicalcluster.Path, resource string) []string {
	return at(p, "apis", rbacGroup, rbacVersion, resource)
}

// ClusterRoles returns the ClusterRoles in the workspace p.
func (c *Client) ClusterRoles(ctx context.Context, p logicalcluster.Path) ([]rbacv1.ClusterRole, error) {
	return list[rbacv1.ClusterRole](ctx, c, rbac(p, "clusterroles"))
}

// ClusterRoleBindings returns the ClusterRoleBindings in the workspace p.
func (c *Client) ClusterRoleBindings(ctx context.Context, p logicalcluster.Path) ([]rbacv1.ClusterRoleBinding, error) {
	return list[rbacv1.ClusterRoleBinding](ctx, c, rbac(p, "clusterrolebindings"))
}

// CreateClusterRole creates a ClusterRole in the workspace p.
func (c *Client) CreateClusterRole(ctx context.Context, p logicalcluster.Path, role *rbacv1.ClusterRole, options WriteOptions) error {
	return c.create(ctx, rbac(p, "clusterroles"), options.params(), role, &rbacv1.ClusterRole{})
}

// CreateClusterRoleBinding creates a ClusterRoleBinding in the workspace p.
func (c *Client) CreateClusterRoleBinding(ctx context.Context, p logicalcluster.Path, binding *rbacv1.ClusterRoleBinding, options WriteOptions) error {
	return c.create(ctx, rbac(p, "clusterrolebindings"), options.params(), binding, &rbacv1.ClusterRoleBinding{})
}
