// Package claims are the commands "kubectl kcp claims get", "accept" and "reject": what
// the providers of bound APIs want to do with other objects in the workspace, and the
// answers of its owner.
package claims

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/kcpplugin/group"
	"github.com/forkless/kcp/pkg/cli/ws/target"
)

// New returns the command.
func New(finder *target.Finder) *cobra.Command {
	return group.New("claims", "See and answer what the providers of bound APIs ask for",
		group.New("get", "Show claims", newGet(finder)),
		newAnswer(finder, accept),
		newAnswer(finder, reject),
	)
}

// open returns the objects of the group apis.kcp.io in a workspace.
func open(ctx context.Context, finder *target.Finder, workspace string) (*client.APIs, error) {
	origin, err := finder.Origin()
	if err != nil {
		return nil, err
	}
	p, err := origin.Workspace(ctx, workspace)
	if err != nil {
		return nil, err
	}
	c, err := origin.Client()
	if err != nil {
		return nil, err
	}
	return c.APIs(ctx, p)
}
