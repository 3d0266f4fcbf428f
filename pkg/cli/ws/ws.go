// Package ws is the command "kubectl ws": going from workspace to workspace, and the
// commands for that. It is a list of them; each has a package of its own.
package ws

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/completion"
	"github.com/forkless/kcp/pkg/cli/near"
	"github.com/forkless/kcp/pkg/cli/plugin"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/ws/create"
	"github.com/forkless/kcp/pkg/cli/ws/createcontext"
	"github.com/forkless/kcp/pkg/cli/ws/current"
	"github.com/forkless/kcp/pkg/cli/ws/emit"
	"github.com/forkless/kcp/pkg/cli/ws/exec"
	"github.com/forkless/kcp/pkg/cli/ws/history"
	"github.com/forkless/kcp/pkg/cli/ws/list"
	"github.com/forkless/kcp/pkg/cli/ws/live"
	"github.com/forkless/kcp/pkg/cli/ws/pick"
	"github.com/forkless/kcp/pkg/cli/ws/pin"
	"github.com/forkless/kcp/pkg/cli/ws/prompt"
	"github.com/forkless/kcp/pkg/cli/ws/remove"
	"github.com/forkless/kcp/pkg/cli/ws/shell"
	"github.com/forkless/kcp/pkg/cli/ws/target"
	"github.com/forkless/kcp/pkg/cli/ws/tree"
	"github.com/forkless/kcp/pkg/cli/ws/use"
	"github.com/forkless/kcp/pkg/cli/ws/wait"
	"github.com/forkless/kcp/pkg/cli/ws/why"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// NewPlugin returns the command of the program kubectl-ws.
func NewPlugin(streams run.Streams) *cobra.Command {
	finder := target.New(streams)
	cmd := plugin.New(New(finder), "kubectl ws", finder.Flags, finder.Display)
	completion.Attach(cmd, finder)
	return cmd
}

// NewCreatePlugin returns the command of the program kubectl-create-workspace.
func NewCreatePlugin(streams run.Streams) *cobra.Command {
	finder := target.New(streams)
	cmd := plugin.New(create.New(finder), "kubectl create workspace", finder.Flags, finder.Display)
	completion.Attach(cmd, finder)
	return cmd
}

// orCommand adds to err, where it says that there is no such workspace and nothing more, the
// command that may have been meant by arg: it is named in the same place.
func orCommand(cmd *cobra.Command, arg string, err error) error {
	if !errors.Is(err, client.ErrMissing) || len(run.Hints(err)) > 0 {
		return err
	}
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	meant := near.Names(arg, names)
	if len(meant) == 0 {
		return err
	}
	return run.Hint(err, fmt.Sprintf("did you mean %s %s?", cmd.CommandPath(), meant[0]))
}

// New returns the command without connection flags, for a program that has others
// beside it.
func New(finder *target.Finder) *cobra.Command {
	o := use.NewOptions(finder)
	cmd := &cobra.Command{
		Use:     "workspace [PATH]",
		Aliases: []string{"ws", "workspaces"},
		Short:   "Go from workspace to workspace",
		Long: `Go to another workspace, or find out where you are. Without PATH it goes to your
home workspace, as cd does.

PATH is one of:
` + use.Grammar + `

A name that is also the name of a command needs "use", "./" or "--" before it.

Exit codes: 0 done, 1 any error, 130 interrupted.`,
		Example: `  kubectl ws .
  kubectl ws :root:team
  kubectl ws -
  kubectl ws tree`,
		Args:              run.Args(cobra.MaximumNArgs(1)),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				o.Arg = args[0]
			}
			if err := o.Complete(); err != nil {
				return err
			}
			if err := o.Run(cmd.Context()); err != nil {
				return orCommand(cmd, o.Arg, err)
			}
			if len(args) == 0 && !o.Short {
				_, _ = fmt.Fprintln(finder.Streams.ErrOut, `note: without an argument this goes to your home workspace, as cd does; "kubectl ws ." says where you are`)
			}
			return nil
		},
	}
	o.AddFlags(cmd.Flags())
	inShell := shell.New(finder)
	cmd.AddCommand(
		use.New(finder),
		current.New(finder),
		create.New(finder),
		createcontext.New(finder),
		live.Offer(tree.New(finder), finder),
		pick.New(finder, func(ctx context.Context, at logicalcluster.Path) error { return live.Run(ctx, finder, at, inShell) }),
		why.New(finder),
		list.New(finder),
		wait.New(finder),
		remove.New(finder),
		exec.New(finder),
		inShell,
		emit.New(finder),
		prompt.New(finder),
		history.New(finder),
		pin.New(finder),
	)
	return live.Offer(cmd, finder)
}
