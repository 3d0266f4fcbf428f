package workspacetype

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/admission"

	"github.com/forkless/kcp/internal/admission/bind"
	"github.com/forkless/kcp/internal/admission/request"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/tenancy"
)

// Name of the plugin.
const Name = "tenancy.kcp.io/WorkspaceType"

// Plugin is the plugin.
type Plugin struct {
	*admission.Handler
	clusters   tenancy.Clusters
	paths      tenancy.Paths
	authorizer bind.Authorizer
}

var _ admission.ValidationInterface = &Plugin{}

// New returns the plugin.
func New(clusters tenancy.Clusters, paths tenancy.Paths, authorizer bind.Authorizer) *Plugin {
	return &Plugin{
		Handler:    admission.NewHandler(admission.Create, admission.Update),
		clusters:   clusters,
		paths:      paths,
		authorizer: authorizer,
	}
}

// Validate checks a new or changed type.
func (p *Plugin) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if a.GetResource().GroupResource() != tenancyv1alpha1.Resource("workspacetypes") || a.GetSubresource() != "" {
		return nil
	}
	cluster, err := request.Cluster(ctx)
	if err != nil {
		return err
	}
	t, err := request.As[tenancyv1alpha1.WorkspaceType](a.GetObject())
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	if !tenancy.MayBeNamed(cluster, t.Name) {
		return request.Denied(a, "workspace type %q can only exist in the root workspace, choose another name", t.Name)
	}
	if err := checkPaths(a, &t.Spec); err != nil {
		return err
	}
	known, err := knownBindings(a)
	if err != nil {
		return err
	}
	return p.checkBind(ctx, a, cluster, t, known)
}

// knownBindings returns the exports that the type listed before.
func knownBindings(a admission.Attributes) ([]tenancyv1alpha1.APIExportReference, error) {
	if a.GetOperation() != admission.Update {
		return nil, nil
	}
	old, err := request.As[tenancyv1alpha1.WorkspaceType](a.GetOldObject())
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return old.Spec.DefaultAPIBindings, nil
}

// checkPaths demands a path wherever one type names another to compare it with: there
// is no place from which a name alone could be looked up.
func checkPaths(a admission.Attributes, spec *tenancyv1alpha1.WorkspaceTypeSpec) error {
	if child := spec.DefaultChildWorkspaceType; child != nil && child.Path == "" {
		return request.Denied(a, "spec.defaultChildWorkspaceType.path must be set")
	}
	for _, limit := range []struct {
		field    string
		selector *tenancyv1alpha1.WorkspaceTypeSelector
	}{
		{"limitAllowedChildren", spec.LimitAllowedChildren},
		{"limitAllowedParents", spec.LimitAllowedParents},
	} {
		if limit.selector == nil {
			continue
		}
		for i, reference := range limit.selector.Types {
			if reference.Path == "" {
				return request.Denied(a, "spec.%s.types[%d].path must be set", limit.field, i)
			}
		}
	}
	return nil
}
