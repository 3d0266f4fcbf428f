package client

import (
	"context"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Bindings returns the APIBindings in the workspace p, without asking first in which
// version there are any. A server without such an API answers "not found".
func (c *Client) Bindings(ctx context.Context, p logicalcluster.Path) ([]Binding, error) {
	return (&APIs{client: c, workspace: p, version: v1alpha2}).Bindings(ctx)
}
