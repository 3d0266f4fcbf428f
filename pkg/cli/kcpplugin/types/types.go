// Package types are the commands "kubectl kcp type": making workspace types, and finding
// out what they come to.
package types

import (
	"github.com/spf13/cobra"

	"github.com/forkless/kcp/pkg/cli/completion"
	"github.com/forkless/kcp/pkg/cli/kcpplugin/group"
	"github.com/forkless/kcp/pkg/cli/kcpplugin/types/can"
	"github.com/forkless/kcp/pkg/cli/kcpplugin/types/create"
	"github.com/forkless/kcp/pkg/cli/kcpplugin/types/show"
	"github.com/forkless/kcp/pkg/cli/kcpplugin/types/tree"
	"github.com/forkless/kcp/pkg/cli/plugin"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/ws/target"
)

// New returns the command.
func New(finder *target.Finder) *cobra.Command {
	return group.New("type", "Workspace types: make them, see what they come to",
		create.New(finder),
		show.New(finder),
		tree.New(finder),
		can.New(finder),
	)
}

// NewCreatePlugin returns the command of the program kubectl-create-workspacetype.
func NewCreatePlugin(streams run.Streams) *cobra.Command {
	finder := target.New(streams)
	cmd := plugin.New(create.New(finder), "kubectl create workspacetype", finder.Flags, finder.Display)
	completion.Attach(cmd, finder)
	return cmd
}
