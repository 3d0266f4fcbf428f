package client

import (
	"context"

	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// WorkspaceTypes returns the WorkspaceTypes in the workspace p.
func (c *Client) WorkspaceTypes(ctx context.Context, p logicalcluster.Path) ([]tenancyv1alpha1.WorkspaceType, error) {
	return list[tenancyv1alpha1.WorkspaceType](ctx, c, at(p, "apis", tenancyGroup, tenancyVersion, "workspacetypes"))
}
