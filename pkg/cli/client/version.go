package client

import (
	"context"

	apiversion "k8s.io/apimachinery/pkg/version"
)

// ServerVersion returns which version the server says that it is.
func (c *Client) ServerVersion(ctx context.Context) (*apiversion.Info, error) {
	info := &apiversion.Info{}
	return info, c.get(ctx, []string{"version"}, nil, info)
}
