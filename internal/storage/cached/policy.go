package cached

import (
	"context"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kubernetes/pkg/apis/rbac"
	rbacconversion "k8s.io/kubernetes/pkg/apis/rbac/v1"

	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// The resources of RBAC.
var (
	Roles               = storage.Resource{GroupResource: rbacResource("roles")}
	RoleBindings        = storage.Resource{GroupResource: rbacResource("rolebindings")}
	ClusterRoles        = storage.Resource{GroupResource: rbacResource("clusterroles")}
	ClusterRoleBindings = storage.Resource{GroupResource: rbacResource("clusterrolebindings")}
)

func rbacResource(resource string) schema.GroupResource {
	return schema.GroupResource{Group: rbac.GroupName, Resource: resource}
}

// Policy reads the roles and bindings of the cluster in the context.
type Policy struct {
	roles               *storage.Reader[rbac.Role, *rbac.Role, *rbac.RoleList]
	roleBindings        *storage.Reader[rbac.RoleBinding, *rbac.RoleBinding, *rbac.RoleBindingList]
	clusterRoles        *storage.Reader[rbac.ClusterRole, *rbac.ClusterRole, *rbac.ClusterRoleList]
	clusterRoleBindings *storage.Reader[rbac.ClusterRoleBinding, *rbac.ClusterRoleBinding, *rbac.ClusterRoleBindingList]
}

// NewPolicy returns a reader over layer.
func NewPolicy(layer *storage.Layer) *Policy {
	return &Policy{
		roles: storage.NewReader[rbac.Role](layer, Roles,
			func() *rbac.RoleList { return &rbac.RoleList{} },
			func(l *rbac.RoleList) []rbac.Role { return l.Items }),
		roleBindings: storage.NewReader[rbac.RoleBinding](layer, RoleBindings,
			func() *rbac.RoleBindingList { return &rbac.RoleBindingList{} },
			func(l *rbac.RoleBindingList) []rbac.RoleBinding { return l.Items }),
		clusterRoles: storage.NewReader[rbac.ClusterRole](layer, ClusterRoles,
			func() *rbac.ClusterRoleList { return &rbac.ClusterRoleList{} },
			func(l *rbac.ClusterRoleList) []rbac.ClusterRole { return l.Items }),
		clusterRoleBindings: storage.NewReader[rbac.ClusterRoleBinding](layer, ClusterRoleBindings,
			func() *rbac.ClusterRoleBindingList { return &rbac.ClusterRoleBindingList{} },
			func(l *rbac.ClusterRoleBindingList) []rbac.ClusterRoleBinding { return l.Items }),
	}
}

// GetRole returns a Role, or a NotFound Status error.
func (p *Policy) GetRole(ctx context.Context, namespace, name string) (*rbacv1.Role, error) {
	cluster, err := logicalcluster.Require(ctx)
	if err != nil {
		return nil, err
	}
	role, err := p.roles.Get(ctx, cluster, namespace, name)
	if err != nil {
		return nil, err
	}
	out := &rbacv1.Role{}
	return out, rbacconversion.Convert_rbac_Role_To_v1_Role(role, out, nil)
}

// GetClusterRole returns a ClusterRole, or a NotFound Status error.
func (p *Policy) GetClusterRole(ctx context.Context, name string) (*rbacv1.ClusterRole, error) {
	cluster, err := logicalcluster.Require(ctx)
	if err != nil {
		return nil, err
	}
	role, err := p.clusterRoles.Get(ctx, cluster, "", name)
	if err != nil {
		return nil, err
	}
	out := &rbacv1.ClusterRole{}
	return out, rbacconversion.Convert_rbac_ClusterRole_To_v1_ClusterRole(role, out, nil)
}

// GetClusterRoleBinding returns a ClusterRoleBinding, or a NotFound Status error.
func (p *Policy) GetClusterRoleBinding(ctx context.Context, name string) (*rbacv1.ClusterRoleBinding, error) {
	cluster, err := logicalcluster.Require(ctx)
	if err != nil {
		return nil, err
	}
	binding, err := p.clusterRoleBindings.Get(ctx, cluster, "", name)
	if err != nil {
		return nil, err
	}
	out := &rbacv1.ClusterRoleBinding{}
	return out, rbacconversion.Convert_rbac_ClusterRoleBinding_To_v1_ClusterRoleBinding(binding, out, nil)
}

// ListRoleBindings returns the RoleBindings of a namespace.
func (p *Policy) ListRoleBindings(ctx context.Context, namespace string) ([]*rbacv1.RoleBinding, error) {
	cluster, err := logicalcluster.Require(ctx)
	if err != nil {
		return nil, err
	}
	bindings, err := p.roleBindings.List(ctx, cluster, namespace)
	if err != nil {
		return nil, err
	}
	return convertAll(bindings, func(in *rbac.RoleBinding, out *rbacv1.RoleBinding) error {
		return rbacconversion.Convert_rbac_RoleBinding_To_v1_RoleBinding(in, out, nil)
	})
}

// ListClusterRoleBindings returns the ClusterRoleBindings.
func (p *Policy) ListClusterRoleBindings(ctx context.Context) ([]*rbacv1.ClusterRoleBinding, error) {
	cluster, err := logicalcluster.Require(ctx)
	if err != nil {
		return nil, err
	}
	return convertClusterRoleBindings(p.clusterRoleBindings.List(ctx, cluster, ""))
}

// ListCurrentClusterRoleBindings is ListClusterRoleBindings with everything in it that
// was written before the call.
func (p *Policy) ListCurrentClusterRoleBindings(ctx context.Context) ([]*rbacv1.ClusterRoleBinding, error) {
	cluster, err := logicalcluster.Require(ctx)
	if err != nil {
		return nil, err
	}
	return convertClusterRoleBindings(p.clusterRoleBindings.ListCurrent(ctx, cluster, ""))
}

func convertClusterRoleBindings(bindings []rbac.ClusterRoleBinding, err error) ([]*rbacv1.ClusterRoleBinding, error) {
	if err != nil {
		return nil, err
	}
	return convertAll(bindings, func(in *rbac.ClusterRoleBinding, out *rbacv1.ClusterRoleBinding) error {
		return rbacconversion.Convert_rbac_ClusterRoleBinding_To_v1_ClusterRoleBinding(in, out, nil)
	})
}

// ListClusterRoles returns the ClusterRoles.
func (p *Policy) ListClusterRoles(ctx context.Context) ([]*rbacv1.ClusterRole, error) {
	cluster, err := logicalcluster.Require(ctx)
	if err != nil {
		return nil, err
	}
	roles, err := p.clusterRoles.List(ctx, cluster, "")
	if err != nil {
		return nil, err
	}
	return convertAll(roles, func(in *rbac.ClusterRole, out *rbacv1.ClusterRole) error {
		return rbacconversion.Convert_rbac_ClusterRole_To_v1_ClusterRole(in, out, nil)
	})
}

// ClusterRoles returns the ClusterRoles of a cluster as they are stored. They share
// memory with the watch cache.
func (p *Policy) ClusterRoles(ctx context.Context, cluster logicalcluster.Name) ([]rbac.ClusterRole, error) {
	return p.clusterRoles.List(ctx, cluster, "")
}

// convertAll converts objects in one allocation; the conversions themselves share
// the rules and subjects with what they convert.
func convertAll[In, Out any](in []In, convert func(*In, *Out) error) ([]*Out, error) {
	objects, pointers := make([]Out, len(in)), make([]*Out, len(in))
	for i := range in {
		if err := convert(&in[i], &objects[i]); err != nil {
			return nil, err
		}
		pointers[i] = &objects[i]
	}
	return pointers, nil
}
