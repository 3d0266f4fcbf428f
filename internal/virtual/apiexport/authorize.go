package apiexport

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/audit"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/forkless/kcp/internal/permissionclaims"
	"github.com/forkless/kcp/internal/route"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

const (
	granted = "access granted"
	// denied is all that those read who may not use the export.
	denied = "access denied"
	// auditReason is the annotation of audit events with what was found out.
	auditReason = "apiexport.auth.kcp.io/reason"
)

// refusal is why a request is not allowed, for those who may know.
type refusal struct{ reason string }

func (r *refusal) Error() string { return r.reason }

func refused(format string, args ...any) error { return &refusal{reason: fmt.Sprintf(format, args...)} }

// Authorize implements virtual.Workspace.
func (w *Workspace) Authorize(ctx context.Context, attributes authorizer.Attributes) (authorizer.Decision, string, error) {
	target, _ := route.VirtualFrom(ctx)
	cluster, ok := logicalcluster.FromContext(ctx)
	if !ok || target.Home.Empty() || len(target.Segments) != w.Segments() {
		return authorizer.DecisionDeny, denied, nil
	}
	allowed, err := w.mayUse(ctx, target, attributes)
	if err != nil {
		return authorizer.DecisionNoOpinion, denied, err
	}
	if !allowed {
		audit.AddAuditAnnotation(ctx, auditReason, "no permission for apiexports/content")
		return authorizer.DecisionDeny, denied, nil
	}
	err = w.check(ctx, cluster, attributes)
	var why *refusal
	switch {
	case errors.As(err, &why):
		audit.AddAuditAnnotation(ctx, auditReason, why.reason)
		return authorizer.DecisionDeny, why.reason, nil
	case err != nil:
		return authorizer.DecisionNoOpinion, denied, err
	default:
		return authorizer.DecisionAllow, granted, nil
	}
}

// mayUse says whether the workspace of the export lets the user do this with what belongs
// to the export. That there is such an export is not looked at.
func (w *Workspace) mayUse(ctx context.Context, target route.VirtualWorkspace, attributes authorizer.Attributes) (bool, error) {
	content := authorizer.AttributesRecord{
		User:            attributes.GetUser(),
		Verb:            attributes.GetVerb(),
		APIGroup:        apisv1alpha2.GroupName,
		APIVersion:      apisv1alpha2.GroupVersion.Version,
		Resource:        "apiexports",
		Subresource:     "content",
		Name:            target.Segments[1],
		ResourceRequest: true,
	}
	if !attributes.IsResourceRequest() {
		content.Verb = "get"
	}
	decision, _, err := w.Authorizer.Authorize(logicalcluster.NewContext(ctx, target.Home), content)
	if decision == authorizer.DecisionAllow {
		return true, nil
	}
	return false, err
}

// check says what is missing for a request of somebody who may use the export; nothing if
// it is allowed.
func (w *Workspace) check(ctx context.Context, cluster logicalcluster.Name, attributes authorizer.Attributes) error {
	e, ok, err := w.exportOf(ctx)
	switch {
	case err != nil:
		return err
	case e.APIExport == nil:
		return refused(denied)
	case !ok:
		return refused("apiexport %s has no identity yet", e.Name)
	case !attributes.IsResourceRequest():
		return nil
	}
	name := apischema.GroupResource{Group: attributes.GetAPIGroup(), Resource: attributes.GetResource()}
	r, ok, err := w.resource(ctx, e, name)
	switch {
	case err != nil:
		return err
	case !ok && cluster.IsWildcard():
		// There is nothing of that name, which the answer will say.
		return nil
	}
	if cluster.IsWildcard() && r != nil && r.claim != nil && !permissionclaims.Allows(r.claim.Verbs, r.claim.Verbs, attributes.GetVerb()) {
		// Whoever has accepted the claim has been asked for less.
		return refused("apiexport %s claims %s without verb %s", e.Name, name, attributes.GetVerb())
	}
	if !cluster.IsWildcard() {
		if err := w.checkBinding(ctx, cluster, e, r, name, attributes.GetVerb()); err != nil {
			return err
		}
	}
	if r != nil && r.claim != nil && r.claim.IdentityHash != "" {
		return w.checkPolicies(ctx, r, attributes)
	}
	return nil
}

// checkBinding says what is missing in a consumer. r is nil if the export does not serve
// the resource.
func (w *Workspace) checkBinding(ctx context.Context, cluster logicalcluster.Name, e export, r *resource, name apischema.GroupResource, verb string) error {
	b, err := w.bindingIn(ctx, cluster, e, func(b *apisv1alpha2.APIBinding) bool { return missing(b, e, r, name, verb) == nil })
	switch {
	case err != nil:
		return err
	case b == nil:
		// Not even that there is such a workspace is said.
		return refused(denied)
	default:
		return missing(b, e, r, name, verb)
	}
}

// missing says what a binding does not give; nothing if it gives what is asked for.
func missing(b *apisv1alpha2.APIBinding, e export, r *resource, name apischema.GroupResource, verb string) error {
	switch {
	case r == nil:
		return refused("apiexport %s neither exports nor claims %s", e.Name, name)
	case r.claim == nil && !binds(b, name):
		return refused("apibinding %s has not bound %s", b.Name, name)
	case r.claim == nil:
		return nil
	}
	answer, accepted := answerTo(b, r)
	switch {
	case permissionclaims.Allows(r.claim.Verbs, answer.Verbs, verb):
		return nil
	case r.unasked:
		return refused("apiexport %s has no permission claim for %s, and may not %s them without", e.Name, name, verb)
	case accepted && slices.Contains(answer.Verbs, verb):
		return refused(`the permission claim for %s of apiexport %s does not include verb %s; apibinding %s accepts it, but both have to name it, or both "*"`, name, e.Name, verb, b.Name)
	case accepted:
		return refused("the permission claim for %s that apibinding %s has accepted does not include verb %s", name, b.Name, verb)
	default:
		return refused("apibinding %s has not accepted the permission claim for %s with verb %s", b.Name, name, verb)
	}
}

// checkPolicies asks the maximal permission policies of all exports of the identity that a
// claimed resource has.
func (w *Workspace) checkPolicies(ctx context.Context, r *resource, attributes authorizer.Attributes) error {
	for _, provider := range w.providers.of(r.claim.IdentityHash) {
		found, err := w.APIs.Export(ctx, provider.cluster, provider.name)
		if err != nil {
			if err = ignoreNotFound(err); err != nil {
				return err
			}
			continue
		}
		if found.Spec.MaximalPermissionPolicy == nil || found.Spec.MaximalPermissionPolicy.Local == nil {
			continue
		}
		if !w.Policy.MaximalPermission(ctx, provider.cluster, attributes.GetUser(), attributes) {
			return refused("the maximal permission policy of the export that %s is bound from does not allow verb %s", r.name, attributes.GetVerb())
		}
	}
	return nil
}
