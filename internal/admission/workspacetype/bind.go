package workspacetype

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/admission"

	"github.com/forkless/kcp/internal/admission/bind"
	"github.com/forkless/kcp/internal/admission/request"
	"github.com/forkless/kcp/internal/exportref"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/tenancy"
)

// checkBind says whether the caller may bind the exports that t, in cluster, lists
// beyond the known ones. Whether the export exists is nobody's business here: an
// unknown path and a missing permission get the same answer.
func (p *Plugin) checkBind(ctx context.Context, a admission.Attributes, cluster logicalcluster.Name, t *tenancyv1alpha1.WorkspaceType, known []tenancyv1alpha1.APIExportReference) error {
	if request.Privileged(a) {
		return nil
	}
	for _, reference := range t.Spec.DefaultAPIBindings {
		if slices.Contains(known, reference) {
			continue
		}
		allowed, err := p.mayBind(ctx, a, cluster, reference)
		if err != nil {
			return request.Failed(a, err)
		}
		if !allowed {
			path, err := p.shownPath(ctx, cluster, reference)
			if err != nil {
				return request.Failed(a, err)
			}
			return request.Denied(a, "unable to create or update WorkspaceType: no permission to bind to export %s:%s", path, reference.Export)
		}
	}
	return nil
}

func (p *Plugin) mayBind(ctx context.Context, a admission.Attributes, cluster logicalcluster.Name, reference tenancyv1alpha1.APIExportReference) (bool, error) {
	cluster, err := exportref.Cluster(ctx, p.paths, cluster, reference.Path)
	switch {
	case exportref.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, err
	}
	return bind.Allowed(ctx, p.authorizer, a, cluster, reference.Export)
}

// shownPath returns the path of the export as the caller would write it.
func (p *Plugin) shownPath(ctx context.Context, cluster logicalcluster.Name, reference tenancyv1alpha1.APIExportReference) (string, error) {
	if reference.Path != "" {
		return reference.Path, nil
	}
	lc, err := p.clusters.Get(ctx, cluster)
	if err != nil && !apierrors.IsNotFound(err) {
		return "", err
	}
	return tenancy.PlaceOf(cluster, lc).Path.String(), nil
}
