// Package show is the command "kubectl kcp type show": what a workspace of a type will
// be, from the type and all that it extends.
package show

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/forkless/kcp/pkg/cli/kcpplugin/types/view"
	"github.com/forkless/kcp/pkg/cli/output"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/typeref"
	"github.com/forkless/kcp/pkg/cli/ws/target"
)

// Options are what the command is called with.
type Options struct {
	// Type is [PATH:]NAME.
	Type string
	// Workspace names the workspace from which a type without a path is looked for, "" for
	// the current one.
	Workspace string

	finder *target.Finder
	output *output.Flags
}

// AddFlags adds the flags of the command to flags.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.StringVarP(&o.Workspace, "workspace", "w", o.Workspace, "Workspace from which the type is looked for, instead of the current one")
	o.output.AddFlags(flags)
}

// Run shows the type.
func (o *Options) Run(ctx context.Context) error {
	ref, err := typeref.Parse(o.Type)
	if err != nil {
		return err
	}
	source, place, err := typeref.From(ctx, o.finder, o.Workspace)
	if err != nil {
		return err
	}
	set, err := source.Resolver().Resolve(ctx, place, ref)
	if err != nil {
		return source.Explain(err, ref)
	}
	shown := view.Of(set)
	if err := (gatherer{client: source.Client()}).complete(ctx, shown, set); err != nil {
		return err
	}
	out := o.finder.Streams.Out
	switch {
	case o.output.Format == output.Name:
		_, err := fmt.Fprintln(out, shown.Type)
		return err
	case o.output.Document():
		return o.output.PrintView(out, shown)
	default:
		return shown.Print(out, o.finder.Display.For(out))
	}
}

// New returns the command.
func New(finder *target.Finder) *cobra.Command {
	o := &Options{finder: finder, output: output.New(false)}
	cmd := &cobra.Command{
		Use:   "show TYPE",
		Short: "Show what workspaces of a type will be",
		Long: `Show what a workspace of a TYPE, [PATH:]NAME, will be: the types it extends, in the order in which
they count, the initializers and terminators it waits for, the exports bound in it, what
may be above and below it, and who may make one.

A name without a path means the nearest type of that name: in the current workspace,
above it, or in root. What you may not read is "unknown". With -o name it prints what
"--type" takes.

Exit codes: 0 done, 1 any error.`,
		Example: `  kubectl kcp type show universal
  kubectl kcp type show root:acme:team -o yaml`,
		Args:              run.Args(cobra.ExactArgs(1)),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Type = args[0]
			if err := o.output.Validate(); err != nil {
				return err
			}
			return o.Run(cmd.Context())
		},
	}
	o.AddFlags(cmd.Flags())
	return cmd
}
