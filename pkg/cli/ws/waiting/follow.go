package waiting

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Follow calls see with the state of the workspace p as it is now and after each change,
// nil while it is not there, until see is done or ctx ends. The state is that of the
// Workspace or, where there is none or it may not be read, that of the LogicalCluster; what
// it waits for has its Names.
func Follow(ctx context.Context, c *client.Client, p logicalcluster.Path, see func(*State) (done bool, err error)) error {
	parent, ok := p.Parent()
	if !ok {
		return followCluster(ctx, c, p, see)
	}
	names := NewNames(c)
	err := c.FollowWorkspace(ctx, parent, p.Base(), func(ws *tenancyv1alpha1.Workspace) (bool, error) {
		if ws == nil {
			return see(nil)
		}
		s := names.In(ctx, Of(ws))
		return see(&s)
	})
	if apierrors.IsForbidden(err) {
		return followCluster(ctx, c, p, see)
	}
	return err
}

func followCluster(ctx context.Context, c *client.Client, p logicalcluster.Path, see func(*State) (bool, error)) error {
	names := NewNames(c)
	return c.FollowLogicalCluster(ctx, p, func(lc *corev1alpha1.LogicalCluster) (bool, error) {
		if lc == nil {
			return see(nil)
		}
		s := names.In(ctx, OfCluster(lc))
		return see(&s)
	})
}
