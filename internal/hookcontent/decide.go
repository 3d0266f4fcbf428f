package hookcontent

import (
	"context"
	"fmt"
	"net/http"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/forkless/kcp/internal/authn/identity"
	"github.com/forkless/kcp/internal/authz"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/tenancy"
)

// turn is how a hook may act now.
type turn struct {
	hook tenancy.Hook
	// user is who acts.
	user user.Info
	// mandate is what he may do by the permissions of the type; nil if he acts as the
	// creator.
	mandate *authz.Mandate
}

// as says whether the caller acts as who he would act as by other.
func (t *turn) as(other *turn) bool { return (t.mandate == nil) == (other.mandate == nil) }

// decide returns how the hook of an attempt may act, or a refusal.
func (c *Content) decide(ctx context.Context, a *attempt) (*turn, error) {
	lc, err := c.Clusters.GetCurrent(ctx, a.cluster)
	switch {
	case apierrors.IsNotFound(err) && a.hook.Kind == tenancy.Terminating:
		return nil, refuse(http.StatusNotFound, "logical cluster not found", "logical cluster %s is gone", a.cluster)
	case apierrors.IsNotFound(err):
		return nil, refuse(http.StatusInternalServerError, "logical cluster not found", "there is no logical cluster %s", a.cluster)
	case err != nil:
		return nil, fmt.Errorf("reading logical cluster %s: %w", a.cluster, err)
	case !a.hook.ActiveIn(lc):
		return nil, refuse(http.StatusForbidden, "it is not the hook's turn", "%s %q cannot access this workspace", nounOf(a.hook.Kind), a.hook.ID)
	}
	rules, err := c.permissions(ctx, a.hook)
	if err != nil {
		return nil, err
	}
	if len(rules) == 0 {
		return asCreator(a, lc)
	}
	return underMandate(a, rules)
}

// permissions returns what the type of a hook lets it do. Without any it acts as the
// creator, and so do the server's own.
func (c *Content) permissions(ctx context.Context, hook tenancy.Hook) ([]rbacv1.PolicyRule, error) {
	if hook.System() {
		return nil, nil
	}
	found, err := c.Types.GetCurrent(ctx, hook.Cluster, hook.Type)
	switch {
	case apierrors.IsNotFound(err):
		// What it might do nobody knows any more, so it does nothing.
		return nil, refuse(http.StatusServiceUnavailable, "workspace type not found", "the workspace type of %s %q is not there", nounOf(hook.Kind), hook.ID)
	case err != nil:
		return nil, fmt.Errorf("reading the workspace type of %s %q: %w", nounOf(hook.Kind), hook.ID, err)
	case hook.Kind == tenancy.Terminating:
		return found.Spec.TerminatorPermissions, nil
	default:
		return found.Spec.InitializerPermissions, nil
	}
}

// underMandate lets the caller act as himself, as far as rules go.
func underMandate(a *attempt, rules []rbacv1.PolicyRule) (*turn, error) {
	mandate := &authz.Mandate{Cluster: a.cluster, Group: groupOf(a.hook), Rules: rules}
	if !mandate.Allows(a.attributes) {
		return nil, refuse(http.StatusForbidden, "no rule allows it",
			"%s %q may not do this: no rule of spec.%s of its workspace type allows %s",
			nounOf(a.hook.Kind), a.hook.ID, fieldOf(a.hook.Kind), describe(a.attributes))
	}
	marked := &user.DefaultInfo{
		Name:   a.caller.GetName(),
		UID:    a.caller.GetUID(),
		Groups: append([]string{mandate.Group}, a.caller.GetGroups()...),
		Extra:  a.caller.GetExtra(),
	}
	return &turn{hook: a.hook, user: marked, mandate: mandate}, nil
}

// asCreator lets the caller act as who created the workspace.
func asCreator(a *attempt, lc *corev1alpha1.LogicalCluster) (*turn, error) {
	if lc.Spec.CreatedBy == nil {
		return nil, refuse(http.StatusInternalServerError, "nobody created the workspace",
			"logical cluster %s does not say who created it, and the workspace type of %s %q has no %s to go without",
			a.cluster, nounOf(a.hook.Kind), a.hook.ID, fieldOf(a.hook.Kind))
	}
	return &turn{hook: a.hook, user: creator(a.caller, lc.Spec.CreatedBy)}, nil
}

// describe says what attributes ask for, as people say it.
func describe(attributes authorizer.Attributes) string {
	if !attributes.IsResourceRequest() {
		return fmt.Sprintf("%s on path %q", attributes.GetVerb(), attributes.GetPath())
	}
	resource := attributes.GetResource()
	if group := attributes.GetAPIGroup(); group != "" {
		resource = group + "/" + resource
	}
	if subresource := attributes.GetSubresource(); subresource != "" {
		resource += "/" + subresource
	}
	if name := attributes.GetName(); name != "" {
		return fmt.Sprintf("%s on %s %q", attributes.GetVerb(), resource, name)
	}
	return attributes.GetVerb() + " on " + resource
}

// groupOf returns the group that marks the requests of a hook.
func groupOf(hook tenancy.Hook) string {
	if hook.Kind == tenancy.Terminating {
		return identity.TerminatorPrefix + hook.ID
	}
	return identity.InitializerPrefix + hook.ID
}

// nounOf returns what a hook of a kind is called.
func nounOf(kind tenancy.HookKind) string {
	if kind == tenancy.Terminating {
		return "terminator"
	}
	return "initializer"
}

// fieldOf returns the field of a workspace type with the permissions of its hook.
func fieldOf(kind tenancy.HookKind) string { return nounOf(kind) + "Permissions" }
