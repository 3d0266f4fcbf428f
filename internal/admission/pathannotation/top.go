package pathannotation

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apiserver/pkg/admission"

	"github.com/forkless/kcp/internal/admission/request"
	"github.com/forkless/kcp/internal/route"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/tenancy"
)

// checkTop refuses a LogicalCluster that claims a path outside of root which leads to another
// one already: it would not lead here, and nobody would say so.
func (p *Plugin) checkTop(ctx context.Context, a admission.Attributes) error {
	if a.GetResource().GroupResource() != logicalClusters || a.GetSubresource() != "" {
		return nil
	}
	lc, err := request.As[corev1alpha1.LogicalCluster](a.GetObject())
	if err != nil {
		return nil //nolint:nilerr // because it will not pass the schema, which says better why
	}
	path, ok := tenancy.RootlessPath(lc)
	if !ok || !claims(a, path) {
		return nil
	}
	cluster, err := request.Cluster(ctx)
	if err != nil {
		return err
	}
	taken, err := p.paths.Resolve(ctx, path)
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case errors.Is(err, route.ErrUnavailable), err == nil && taken != cluster:
		return request.Denied(a, "path %q leads to another logical cluster", path)
	case err != nil:
		return request.Failed(a, err)
	default:
		return nil
	}
}

// claims says whether the request gives path to an object that does not have it.
func claims(a admission.Attributes, path logicalcluster.Path) bool {
	if a.GetOperation() == admission.Create {
		return true
	}
	old, err := meta.Accessor(a.GetOldObject())
	return err != nil || old.GetAnnotations()[annotation] != path.String()
}
