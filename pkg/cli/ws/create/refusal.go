package create

import (
	"context"

	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// refusal returns err, with which the server has refused to create the workspace in
// parent, in the words of somebody who can help.
func (o *Options) refusal(ctx context.Context, c *client.Client, parent logicalcluster.Path, err error) error {
	return o.above(ctx, c, parent, err)
}
