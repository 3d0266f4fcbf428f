package reservednames

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"

	"github.com/forkless/kcp/internal/admission/request"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

// Name of the plugin.
const Name = "apis.kcp.io/ReservedNames"

// reserved are the names nobody can give to objects of a resource.
var reserved = map[schema.GroupResource][]string{
	tenancyv1alpha1.Resource("workspacetypes"): {
		tenancyv1alpha1.WorkspaceTypeReservedAny,
		tenancyv1alpha1.WorkspaceTypeReservedSystem,
	},
}

// Plugin is the plugin. It runs with those that change objects although it changes
// none, so that it answers before the schema does.
type Plugin struct{ *admission.Handler }

var _ admission.MutationInterface = &Plugin{}

// New returns the plugin.
func New() *Plugin { return &Plugin{admission.NewHandler(admission.Create)} }

// Admit refuses reserved names.
func (p *Plugin) Admit(_ context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	names := reserved[a.GetResource().GroupResource()]
	if len(names) == 0 || a.GetSubresource() != "" {
		return nil
	}
	object, err := meta.Accessor(a.GetObject())
	if err != nil {
		return nil //nolint:nilerr // because what has no metadata has no name
	}
	if slices.Contains(names, object.GetName()) {
		return request.Denied(a, "name is reserved, choose another one")
	}
	return nil
}
