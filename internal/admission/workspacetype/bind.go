package workspacetype

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/forkless/kcp/internal/admission/request"
	"github.com/forkless/kcp/internal/tenancy"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

const (
	// bindVerb is the verb on an export that lets users bind it.
	bindVerb = "bind"

	apisGroup   = "apis.kcp.io"
	apisVersion = "v1alpha2"
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
			return request.Denied(a, "no permission to bind to export %s:%s", path, reference.Export)
		}
	}
	return nil
}

func (p *Plugin) mayBind(ctx context.Context, a admission.Attributes, cluster logicalcluster.Name, reference tenancyv1alpha1.APIExportReference) (bool, error) {
	if reference.Path != "" {
		path, err := logicalcluster.ParsePath(reference.Path)
		if err != nil || path == logicalcluster.Wildcard.Path() {
			return false, nil //nolint:nilerr // because what is no path is as forbidden as one that leads nowhere
		}
		cluster, err = p.paths.Resolve(ctx, path)
		switch {
		case apierrors.IsNotFound(err):
			return false, nil
		case err != nil:
			return false, err
		}
	}
	return p.authorizer.AllowedIn(ctx, cluster, authorizer.AttributesRecord{
		User:            a.GetUserInfo(),
		Verb:            bindVerb,
		APIGroup:        apisGroup,
		APIVersion:      apisVersion,
		Resource:        "apiexports",
		Name:            reference.Export,
		ResourceRequest: true,
	})
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
