package workspacetypeexists

import (
	"context"

	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/forkless/kcp/internal/admission/request"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/tenancy"
)

// useVerb is the verb on a workspace type that lets users make workspaces of it.
const useVerb = "use"

// checkUse says whether the caller may use every alias of child. Each is asked for
// where it is, since its author decides who may.
func (p *Plugin) checkUse(ctx context.Context, a admission.Attributes, child *tenancy.Set) error {
	if request.Privileged(a) {
		return nil
	}
	for _, alias := range child.Aliases {
		allowed, err := p.authorizer.AllowedIn(ctx, alias.Cluster, authorizer.AttributesRecord{
			User:            a.GetUserInfo(),
			Verb:            useVerb,
			APIGroup:        tenancyv1alpha1.GroupName,
			APIVersion:      tenancyv1alpha1.GroupVersion.Version,
			Resource:        "workspacetypes",
			Name:            alias.Object.Name,
			ResourceRequest: true,
		})
		if err != nil {
			return request.Failed(a, err)
		}
		if !allowed {
			return request.Denied(a, "unable to use workspacetype %s: missing verb %q on workspacetypes, ask its owner for it", alias, useVerb)
		}
	}
	return nil
}
