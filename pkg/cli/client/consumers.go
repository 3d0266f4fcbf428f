package client

import (
	"context"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Consumers returns the logical clusters of the workspaces that have bound the export
// called name in p, as its provider sees them: who may read what is in the virtual
// workspace of the export.
func (c *Client) Consumers(ctx context.Context, p logicalcluster.Path, name string) ([]string, error) {
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

// consumersAt adds the logical clusters that have bindings at an endpoint.
func (c *Client) consumersAt(ctx context.Context, endpoint string, clusters map[string]bool) error {
	path, err := c.pathOf(endpoint)
	if err != nil {
		return err
	}
	path = append(path, "clusters", logicalcluster.Wildcard.String(), "apis", apisGroup, v1alpha2, "apibindings")
	items, err := list[metav1.PartialObjectMetadata](ctx, c, path)
	if err != nil {
		return err
	}
	for _, item := range items {
		clusters[logicalcluster.FromAnnotations(item.Annotations).String()] = true
	}
	return nil
}
