package builtin

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// params checks access to the parameters of an admission policy.
//
// Who writes a policy must be able to read its parameters, so upstream resolves the
// parameter kind to a resource and asks the authorizer about that. Its resolver gets
// no context, but which resource serves a kind depends on the logical cluster. So the
// resolver here answers with the kind itself, marked in a way no resource name can
// look like, and the authorizer, which has the context, finishes the job.
type params struct {
	authorizer.Authorizer
	kinds KindResolver
}

// kindMark starts the resource names that stand for a kind. A slash separates
// resource and subresource in URLs and rules, so no resource starts with one.
const kindMark = "/kind/"

// Resolve implements upstream's resolver.ResourceResolver.
func (p params) Resolve(kind schema.GroupVersionKind) (schema.GroupVersionResource, error) {
	return kind.GroupVersion().WithResource(kindMark + kind.Kind), nil
}

// Authorize implements authorizer.Authorizer.
func (p params) Authorize(ctx context.Context, attributes authorizer.Attributes) (authorizer.Decision, string, error) {
	kind, marked := strings.CutPrefix(attributes.GetResource(), kindMark)
	if !marked {
		return p.Authorizer.Authorize(ctx, attributes)
	}
	resolved := authorizer.AttributesRecord{
		User:            attributes.GetUser(),
		Verb:            attributes.GetVerb(),
		Namespace:       attributes.GetNamespace(),
		APIGroup:        attributes.GetAPIGroup(),
		APIVersion:      attributes.GetAPIVersion(),
		Resource:        p.resource(ctx, attributes, kind),
		Name:            attributes.GetName(),
		ResourceRequest: true,
	}
	return p.Authorizer.Authorize(ctx, resolved)
}

// resource returns the resource that serves kind, or "*" if that cannot be said, as
// upstream does: the kind may come to be served later, by any resource of the group.
func (p params) resource(ctx context.Context, attributes authorizer.Attributes, kind string) string {
	if p.kinds == nil {
		return "*"
	}
	resource, err := p.kinds(ctx, schema.GroupVersionKind{
		Group:   attributes.GetAPIGroup(),
		Version: attributes.GetAPIVersion(),
		Kind:    kind,
	})
	if err != nil {
		return "*"
	}
	return resource.Resource
}
