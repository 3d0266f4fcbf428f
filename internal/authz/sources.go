package authz

import (
	"context"

	rbacv1 "k8s.io/api/rbac/v1"

	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Policy reads the roles and bindings of the logical cluster in the context, and of no
// other. It is asked several times per request and should answer from memory. What it
// returns is shared and not changed by the caller. A role that is not there is a
// Kubernetes NotFound error; a list without objects is empty and no error.
type Policy interface {
	GetRole(ctx context.Context, namespace, name string) (*rbacv1.Role, error)
	ListRoleBindings(ctx context.Context, namespace string) ([]*rbacv1.RoleBinding, error)
	GetClusterRole(ctx context.Context, name string) (*rbacv1.ClusterRole, error)
	ListClusterRoleBindings(ctx context.Context) ([]*rbacv1.ClusterRoleBinding, error)
	// ListCurrentClusterRoleBindings does not lag behind what has been written.
	ListCurrentClusterRoleBindings(ctx context.Context) ([]*rbacv1.ClusterRoleBinding, error)
}

// LogicalClusters reads LogicalClusters, whichever cluster the context carries. What is
// returned is shared and not changed by the caller.
type LogicalClusters interface {
	// Get returns that of a logical cluster. One that is not there is a Kubernetes NotFound
	// error.
	Get(ctx context.Context, name logicalcluster.Name) (*corev1alpha1.LogicalCluster, error)
	// List returns all logical clusters, from memory.
	List(ctx context.Context) ([]corev1alpha1.LogicalCluster, error)
}
