package lifecycle

import (
	"context"
	"slices"

	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/forkless/kcp/internal/authn/identity"
	"github.com/forkless/kcp/internal/route"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/tenancy"
)

const (
	granted = "access granted"
	denied  = "access denied"
)

// hookOf returns the hook that a request is as.
func (w *Workspace) hookOf(ctx context.Context) (tenancy.Hook, bool) {
	target, ok := route.VirtualFrom(ctx)
	if !ok || len(target.Segments) != w.Segments() {
		return tenancy.Hook{}, false
	}
	hook, err := tenancy.ParseHook(w.kind, target.Segments[0])
	return hook, err == nil
}

// Authorize implements virtual.Workspace. What is asked for does not matter: whoever may
// act as the hook may ask for anything.
func (w *Workspace) Authorize(ctx context.Context, attributes authorizer.Attributes) (authorizer.Decision, string, error) {
	hook, ok := w.hookOf(ctx)
	switch {
	case !ok:
		return authorizer.DecisionDeny, denied, nil
	case isAdmin(attributes.GetUser(), w.Home(hook.ID)):
		return authorizer.DecisionAllow, granted, nil
	case hook.System():
		return authorizer.DecisionDeny, denied, nil
	}
	acting := authorizer.AttributesRecord{
		User:            attributes.GetUser(),
		Verb:            wordsFor(w.kind).verb,
		APIGroup:        tenancyv1alpha1.GroupName,
		APIVersion:      tenancyv1alpha1.GroupVersion.Version,
		Resource:        "workspacetypes",
		Name:            hook.Type,
		ResourceRequest: true,
	}
	decision, _, err := w.Authorizer.Authorize(logicalcluster.NewContext(ctx, hook.Cluster), acting)
	if decision != authorizer.DecisionAllow {
		return authorizer.DecisionDeny, denied, err
	}
	return decision, granted, nil
}

// isAdmin says whether a user is an administrator of all workspaces as far as a cluster is
// concerned.
func isAdmin(u user.Info, in logicalcluster.Name) bool {
	return slices.ContainsFunc(identity.Effective(u, in), func(u user.Info) bool { return identity.InGroup(u, identity.Admin) })
}
