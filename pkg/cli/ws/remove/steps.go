package remove

import (
	"context"
	"time"

	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/confirm"
	"github.com/forkless/kcp/pkg/cli/display"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Preview says what would go with the workspace called name in parent, as it is shown
// before somebody is asked, and why the workspace should stay if somebody has said so.
func Preview(ctx context.Context, c *client.Client, parent logicalcluster.Path, name string, look display.Display) (text, protected string, err error) {
	ws, err := c.Workspace(ctx, parent, name)
	if err != nil {
		return "", "", err
	}
	inv := start(parent.Join(name), ws)
	if err := inv.fill(ctx, c); err != nil {
		return "", "", err
	}
	return preview(look, inv, time.Now()), ws.Annotations[confirm.ProtectedAnnotation], nil
}

// Start starts the deletion of the workspace called name in parent, for somebody who has
// confirmed it and watches what comes of it.
func Start(ctx context.Context, c *client.Client, parent logicalcluster.Path, name string) error {
	ws, err := c.Workspace(ctx, parent, name)
	if err != nil {
		return err
	}
	return c.DeleteThisWorkspace(ctx, parent, ws, false)
}
