package client

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// CountWorkspaces returns how many workspaces the server has, without reading them.
func (c *Client) CountWorkspaces(ctx context.Context) (int64, error) {
	everywhere, err := c.Everywhere(ctx)
	if err != nil {
		return 0, err
	}
	var first metav1.PartialObjectMetadataList
	if err := c.get(ctx, everywhere.path, map[string]string{"limit": "1"}, &first); err != nil {
		return 0, err
	}
	count := int64(len(first.Items))
	if first.RemainingItemCount != nil {
		count += *first.RemainingItemCount
	}
	return count, nil
}
