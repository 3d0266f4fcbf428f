package client

import (
	"context"

	authorizationv1 "k8s.io/api/authorization/v1"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// MayBind says whether the caller may bind the export called name in the workspace p,
// or every export there if name is empty.
func (c *Client) MayBind(ctx context.Context, p logicalcluster.Path, name string) (bool, error) {
	return c.May(ctx, p, authorizationv1.ResourceAttributes{Verb: "bind", Group: apisGroup, Resource: "apiexports", Name: name})
}

// MayUseType says whether the caller may make workspaces of the type called name that is
// in the workspace p.
func (c *Client) MayUseType(ctx context.Context, p logicalcluster.Path, name string) (bool, error) {
	return c.May(ctx, p, authorizationv1.ResourceAttributes{Verb: "use", Group: tenancyGroup, Resource: "workspacetypes", Name: name})
}

// MayCreateWorkspaces says whether the caller may create workspaces in the workspace p.
func (c *Client) MayCreateWorkspaces(ctx context.Context, p logicalcluster.Path) (bool, error) {
	return c.May(ctx, p, authorizationv1.ResourceAttributes{Verb: "create", Group: tenancyGroup, Resource: "workspaces"})
}
