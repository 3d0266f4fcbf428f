package tenancystatus

import (
	"context"

	"k8s.io/apiserver/pkg/admission"

	"github.com/forkless/kcp/internal/admission/request"
	"github.com/forkless/kcp/internal/authn/identity"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

// Name of the plugin.
const Name = "tenancy.kcp.io/Status"

// Plugin is the plugin. It runs with those that change objects although it changes
// none, as a missing permission is to be known before anything else is.
type Plugin struct{ *admission.Handler }

var _ admission.MutationInterface = &Plugin{}

// New returns the plugin.
func New() *Plugin { return &Plugin{admission.NewHandler(admission.Create, admission.Update)} }

// Admit refuses status writes of callers who are not the system's.
func (p *Plugin) Admit(_ context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if a.GetSubresource() != "status" {
		return nil
	}
	switch a.GetResource().GroupResource() {
	case tenancyv1alpha1.Resource("workspaces"), tenancyv1alpha1.Resource("workspacetypes"):
	default:
		return nil
	}
	if request.InGroup(a, identity.Masters, identity.Admin, identity.WorkspaceBootstrapper) {
		return nil
	}
	return request.Denied(a, "the status is set by the system")
}
