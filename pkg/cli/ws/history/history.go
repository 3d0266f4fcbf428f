// Package history is the command "kubectl ws history": the workspaces that have been left,
// and going back to one of them. They are kept in the kubeconfig, so that each kubeconfig,
// and each shell with one of its own, has a history of its own.
package history

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/forkless/kcp/pkg/cli/output"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/table"
	"github.com/forkless/kcp/pkg/cli/ws/listing"
	"github.com/forkless/kcp/pkg/cli/ws/path"
	"github.com/forkless/kcp/pkg/cli/ws/switching"
	"github.com/forkless/kcp/pkg/cli/ws/target"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Options are what the command is called with.
type Options struct {
	// Number is that of the workspace to go to, 0 to show them all.
	Number int
	// Short prints the bare path of where one has come.
	Short bool
	// Output is the format of the list.
	Output *output.Flags

	finder *target.Finder
}

// AddFlags adds the flags of the command to flags.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	o.Output.AddFlags(flags)
	flags.BoolVar(&o.Short, "short", o.Short, "After going somewhere, print only the path of the workspace")
}

// Complete reads the argument.
func (o *Options) Complete(args []string) error {
	if len(args) > 0 {
		n, err := strconv.Atoi(args[0])
		if err != nil || n < 1 {
			return fmt.Errorf("%q is no number of a workspace in the history", args[0])
		}
		o.Number = n
	}
	return o.Output.Validate()
}

// Run shows the history, or goes to a workspace in it.
func (o *Options) Run(ctx context.Context) error {
	origin, err := o.finder.Origin()
	if err != nil {
		return err
	}
	visited := origin.History()
	if o.Number == 0 {
		return o.show(visited)
	}
	if o.Number > len(visited) {
		return run.Hint(fmt.Errorf("there is no workspace %d in the history, it has %d", o.Number, len(visited)),
			"kubectl ws history shows them")
	}
	ref, err := path.Parse(":"+visited[o.Number-1].String(), "")
	if err != nil {
		return err
	}
	return switching.Switcher{Finder: o.finder, Short: o.Short}.Go(ctx, origin, ref)
}

func (o *Options) show(visited []logicalcluster.Path) error {
	if o.Output.Document() {
		items := make([]listing.Item, 0, len(visited))
		for _, p := range visited {
			items = append(items, listing.At(p))
		}
		return listing.Print(o.finder.Streams.Out, o.Output, items)
	}
	if len(visited) == 0 {
		_, err := fmt.Fprintln(o.finder.Streams.ErrOut, "No workspaces have been left yet.")
		return err
	}
	t := table.New(o.finder.Display.For(o.finder.Streams.Out), table.Column{}, table.Column{Shrink: table.Cut})
	t.NoHeaders = true
	for i, p := range visited {
		t.Row(strconv.Itoa(i+1), p.String())
	}
	return t.Print(o.finder.Streams.Out)
}

// New returns the command.
func New(finder *target.Finder) *cobra.Command {
	o := &Options{Output: output.New(false, output.Path), finder: finder}
	cmd := &cobra.Command{
		Use:   "history [NUMBER]",
		Short: "Show the workspaces you have left, or go back to one of them",
		Long: `Show the workspaces on this server that you have left, the latest first; 1 is where
"kubectl ws -" goes. With NUMBER it goes to that workspace.

The last 20 are kept in the kubeconfig, so that each "kubectl ws shell" has its own.

Exit codes: 0 done, 1 any error.`,
		Example: `  kubectl ws history
  kubectl ws history 3`,
		Args:              run.Args(cobra.MaximumNArgs(1)),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.Complete(args); err != nil {
				return err
			}
			return o.Run(cmd.Context())
		},
	}
	o.AddFlags(cmd.Flags())
	return cmd
}
