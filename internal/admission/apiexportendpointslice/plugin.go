package apiexportendpointslice

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/admission"

	"github.com/forkless/kcp/internal/admission/bind"
	"github.com/forkless/kcp/internal/admission/request"
	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
)

// Name of the plugin.
const Name = "apis.kcp.io/APIExportEndpointSlice"

// Plugin is the plugin. The reference never changes, so only new slices are looked at.
type Plugin struct {
	*admission.Handler
	access bind.Access
}

var _ admission.ValidationInterface = &Plugin{}

// New returns the plugin.
func New(access bind.Access) *Plugin {
	return &Plugin{Handler: admission.NewHandler(admission.Create), access: access}
}

// Validate checks that the caller may bind the export.
func (p *Plugin) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if a.GetResource().GroupResource() != apisv1alpha1.Resource("apiexportendpointslices") || a.GetSubresource() != "" {
		return nil
	}
	slice, err := request.As[apisv1alpha1.APIExportEndpointSlice](a.GetObject())
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	export := slice.Spec.APIExport
	found, err := p.access.Find(ctx, export.Path, export.Name)
	if err != nil {
		return request.Failed(a, err)
	}
	return p.access.Check(ctx, a, "APIExportEndpointSlice", export.Path, export.Name, found)
}
