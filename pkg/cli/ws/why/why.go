// Package why is the command "kubectl ws why", which is also "kubectl kcp debug
// workspace": why a workspace is not ready, not gone, or not to be reached.
package why

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/forkless/kcp/pkg/cli/diagnosis"
	"github.com/forkless/kcp/pkg/cli/diagnosis/workspace"
	"github.com/forkless/kcp/pkg/cli/output"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/ws/target"
)

// Options are what the command is called with.
type Options struct {
	// Arg names the workspace, "" for the current one.
	Arg string
	// Watch looks again until nothing blocks.
	Watch bool

	output *output.Flags
	finder *target.Finder
}

// NewOptions returns the options of a command that is called without any.
func NewOptions(finder *target.Finder) *Options {
	return &Options{finder: finder, output: output.New(false)}
}

// AddFlags adds the flags of the command to flags.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.BoolVar(&o.Watch, "watch", o.Watch, "Look again, and say what has changed, until nothing blocks")
	o.output.AddFlags(flags)
}

// Run answers the question.
func (o *Options) Run(ctx context.Context) error {
	if err := o.output.Validate(); err != nil {
		return err
	}
	origin, err := o.finder.Origin()
	if err != nil {
		return err
	}
	p, err := origin.Workspace(ctx, o.Arg)
	if err != nil {
		return err
	}
	c, err := origin.Client()
	if err != nil {
		return err
	}
	changes := c.Changes()
	if o.Watch {
		changes.Of(ctx, workspace.Watched(p)...)
	}
	return diagnosis.Question{
		Streams: o.finder.Streams, Display: o.finder.Display, Output: o.output, Watch: o.Watch, Changes: changes,
		Ask: func(ctx context.Context) (*diagnosis.Diagnosis, error) {
			return workspace.DiagnoseFrom(ctx, c, p, origin.Path)
		},
	}.Answer(ctx)
}

// New returns the command "why".
func New(finder *target.Finder) *cobra.Command {
	return newCommand(finder, "why [PATH]", `  kubectl ws why
  kubectl ws why :root:acme:payments
  kubectl ws why payments -o jsonpath='{.blockers[0].next[0]}'`)
}

// NewDebug returns the same command under the name "workspace".
func NewDebug(finder *target.Finder) *cobra.Command {
	return newCommand(finder, "workspace [PATH]", `  kubectl kcp debug workspace :root:acme:payments
  kubectl kcp debug workspace payments --watch`)
}

func newCommand(finder *target.Finder, use, examples string) *cobra.Command {
	o := NewOptions(finder)
	cmd := &cobra.Command{
		Use:   use,
		Short: "Find out why a workspace is not ready, not gone or not to be reached",
		Long: `Find out why a workspace is not ready, not gone or not to be reached: the one at PATH,
or the current one.

Each line says of one thing whether it is ok, waiting, failed, a warning, or unknown
because you may not read it. At the end stands what blocks the workspace, and the command
that goes on from there, or mends it.

Exit codes: 0 nothing blocks it, 3 something does, 1 any error.`,
		Example:           examples,
		Args:              run.Args(cobra.MaximumNArgs(1)),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				o.Arg = args[0]
			}
			return o.Run(cmd.Context())
		},
	}
	o.AddFlags(cmd.Flags())
	return cmd
}
