// Package tree is the command "kubectl ws tree": drawing the workspaces below the
// current one. What cannot be read is marked in the drawing, the rest is drawn.
package tree

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/ws/switching"
	"github.com/forkless/kcp/pkg/cli/ws/target"
)

// Options are what the command is called with.
type Options struct {
	// Full shows the path of each workspace instead of its name.
	Full bool
	// Wide shows the phases of each workspace.
	Wide bool
	// Start names the workspace to start at, "" for the current one.
	Start string

	finder *target.Finder
}

// AddFlags adds the flags of the command to flags.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.BoolVarP(&o.Full, "full", "f", o.Full, "Show full paths instead of names")
	flags.BoolVar(&o.Wide, "wide", o.Wide, "Show the phases of the workspace and of its logical cluster")
	flags.StringVarP(&o.Start, "workspace", "w", o.Start, "Workspace to start at, instead of the current one")
}

// Run draws the tree.
func (o *Options) Run(ctx context.Context) error {
	origin, err := o.finder.Origin()
	if err != nil {
		return err
	}
	out := o.finder.Streams.Out
	if o.Start == "" && !origin.InWorkspace() {
		return switching.Print(out, origin.Place, "", false)
	}
	start, err := origin.Workspace(ctx, o.Start)
	if err != nil {
		return err
	}
	c, err := origin.Client()
	if err != nil {
		return err
	}
	top, err := gather(ctx, c, start, o.Wide)
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		// A drawing full of marks would look as if the server had failed.
		return context.Cause(ctx)
	}
	if o.Wide {
		return drawWide(out, top, o.Full)
	}
	return draw(out, top, o.Full)
}

// New returns the command.
func New(finder *target.Finder) *cobra.Command {
	o := &Options{finder: finder}
	cmd := &cobra.Command{
		Use:   "tree",
		Short: "Draw the workspaces below the current one",
		Long: `Draw the workspaces below the current one. Mounted workspaces are marked with [m],
those that you may not look into with (no access), and those that could not be read
with (error: ...). Workspaces that are being deleted are left out.

Exit codes: 0 the workspace to start at could be read, 1 any error.`,
		Example: `  kubectl ws tree
  kubectl ws tree --full
  kubectl ws tree --wide -w :root:team`,
		Args:              run.Args(cobra.ExactArgs(0)),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return o.Run(cmd.Context()) },
	}
	o.AddFlags(cmd.Flags())
	return cmd
}
