package client

import (
	"context"
	"maps"
	"slices"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// ConsumerClusters returns the logical clusters of the workspaces that have bound the
// export called name in p, as its provider sees them. An error says that they may not be
// read, or not from here.
func (c *Client) ConsumerClusters(ctx context.Context, p logicalcluster.Path, name string) ([]string, error) {
	endpoints, err := c.ExportEndpoints(ctx, p, name)
	if err != nil {
		return nil, err
	}
	clusters := map[string]bool{}
	for _, endpoint := range endpoints {
		if err := c.consumersAt(ctx, endpoint, clusters); err != nil {
			return nil, err
		}
	}
	return slices.Sorted(maps.Keys(clusters)), nil
}
