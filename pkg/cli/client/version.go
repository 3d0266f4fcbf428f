package client

import (
	"context"

	apiversion "k8s.io/apimachinery/pkg/version"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// ServerVersion returns which version the server says that it is, to those who may look
// into the workspace p.
func (c *Client) ServerVersion(ctx context.Context, p logicalcluster.Path) (*apiversion.Info, error) {
	info := &apiversion.Info{}
	return info, c.get(ctx, at(p, "version"), nil, info)
}
