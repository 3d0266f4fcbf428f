package tree

import (
	"context"

	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

func (o *Options) watch(ctx context.Context, c *client.Client, start logicalcluster.Path) error {
	return o.once(ctx, c, start)
}
