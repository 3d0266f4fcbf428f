package authz

import (
	"context"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/kubernetes/pkg/registry/rbac/validation"
)

// localPolicy is the policy of one workspace for the length of one request: its own
// bindings and roles, and the roles of system:admin where it has none of that name.
//
// A request needs the same bindings and roles twice, to see whether the caller may
// enter and then what he may do, so the answers are kept. It is not safe for
// concurrent use.
type localPolicy struct {
	Policy
	bootstrap *Snapshot

	listed              bool
	clusterRoleBindings []*rbacv1.ClusterRoleBinding
	clusterRoles        []*rbacv1.ClusterRole

	// unread is why something could not be read; nil if all could. Then nobody knows that
	// the policy does not allow what it has not allowed.
	unread error
}

func newLocalPolicy(policy Policy, bootstrap *Snapshot) *localPolicy {
	return &localPolicy{Policy: policy, bootstrap: bootstrap}
}

// resolver returns upstream's rule resolver over p.
func (p *localPolicy) resolver() *validation.DefaultRuleResolver {
	return validation.NewDefaultRuleResolver(p, p, p, p)
}

// GetRole implements validation.RoleGetter.
func (p *localPolicy) GetRole(ctx context.Context, namespace, name string) (*rbacv1.Role, error) {
	role, err := p.Policy.GetRole(ctx, namespace, name)
	if apierrors.IsNotFound(err) {
		return p.bootstrap.GetRole(ctx, namespace, name)
	}
	return role, p.note(err)
}

// GetClusterRole implements validation.ClusterRoleGetter.
func (p *localPolicy) GetClusterRole(ctx context.Context, name string) (*rbacv1.ClusterRole, error) {
	for _, role := range p.clusterRoles {
		if role.Name == name {
			return role, nil
		}
	}
	role, err := p.Policy.GetClusterRole(ctx, name)
	if apierrors.IsNotFound(err) {
		if role, err = p.bootstrap.GetClusterRole(ctx, name); err != nil {
			return nil, err
		}
	}
	if err != nil {
		return nil, p.note(err)
	}
	p.clusterRoles = append(p.clusterRoles, role)
	return role, nil
}

// catchUp reads the bindings of the workspace again, with all in them that has been
// written, and says whether they have changed.
func (p *localPolicy) catchUp(ctx context.Context) bool {
	bindings, err := p.ListCurrentClusterRoleBindings(ctx)
	if p.note(err) != nil || p.listed && sameBindings(p.clusterRoleBindings, bindings) {
		return false
	}
	// What could not be read before is asked for again.
	p.listed, p.clusterRoleBindings, p.unread = true, bindings, nil
	return true
}

// note remembers err, if there is one, and returns it.
func (p *localPolicy) note(err error) error {
	if err != nil {
		p.unread = err
	}
	return err
}

// sameBindings says whether both are the same objects in the same versions.
func sameBindings(a, b []*rbacv1.ClusterRoleBinding) bool {
	return slices.EqualFunc(a, b, func(a, b *rbacv1.ClusterRoleBinding) bool {
		return a.UID == b.UID && a.ResourceVersion == b.ResourceVersion
	})
}

// ListClusterRoleBindings implements validation.ClusterRoleBindingLister.
func (p *localPolicy) ListClusterRoleBindings(ctx context.Context) ([]*rbacv1.ClusterRoleBinding, error) {
	if p.listed {
		return p.clusterRoleBindings, nil
	}
	bindings, err := p.Policy.ListClusterRoleBindings(ctx)
	if err != nil {
		return nil, p.note(err)
	}
	p.listed, p.clusterRoleBindings = true, bindings
	return bindings, nil
}

// ListRoleBindings implements validation.RoleBindingLister.
func (p *localPolicy) ListRoleBindings(ctx context.Context, namespace string) ([]*rbacv1.RoleBinding, error) {
	bindings, err := p.Policy.ListRoleBindings(ctx, namespace)
	return bindings, p.note(err)
}
