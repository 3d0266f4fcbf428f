package apiexport

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"

	"github.com/forkless/kcp/internal/admission/request"
	"github.com/forkless/kcp/internal/apiversions"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
)

// Name of the plugin.
const Name = "apis.kcp.io/APIExport"

// Plugin is the plugin.
type Plugin struct {
	*admission.Handler
	needsIdentity func(schema.GroupResource) bool
}

var _ admission.ValidationInterface = &Plugin{}

// New returns the plugin. needsIdentity says whether claims of a resource have to say which
// export serves it.
func New(needsIdentity func(schema.GroupResource) bool) *Plugin {
	return &Plugin{Handler: admission.NewHandler(admission.Create, admission.Update), needsIdentity: needsIdentity}
}

// Validate checks a new or changed export.
func (p *Plugin) Validate(_ context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if a.GetResource().GroupResource() != apisv1alpha2.Resource("apiexports") || a.GetSubresource() != "" {
		return nil
	}
	u, ok := a.GetObject().(*unstructured.Unstructured)
	if !ok {
		return apierrors.NewBadRequest("an export has to be an unstructured object")
	}
	if err := apiversions.CheckAnnotations(u); err != nil {
		return request.Denied(a, "%w", err)
	}
	export, err := apiversions.Export(u)
	if err != nil {
		return request.Denied(a, "%w", err)
	}
	if err := validate(&export.Spec, p.needsIdentity).ToAggregate(); err != nil {
		return request.Denied(a, "%w", err)
	}
	return nil
}
