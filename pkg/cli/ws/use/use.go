// Package use is the command "kubectl ws use": going to another workspace.
package use

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/ws/path"
	"github.com/forkless/kcp/pkg/cli/ws/switching"
	"github.com/forkless/kcp/pkg/cli/ws/target"
)

// Grammar explains the argument of the command.
const Grammar = `  .              stay, and say where that is
  -              the previous workspace
  ..  ..:b       the parent, a sibling
  a  a:b         below the current workspace
  :a:b  /a/b     from the top
  :              the topmost workspace above the current one
  ~  ~:a         the home workspace, and below it
  @name          a pin, see "kubectl ws pin"
  https://...    the address of a workspace on the same server
  root:a         short for :root:a

The identifier of a logical cluster names it, too.`

// Options are what the command is called with.
type Options struct {
	// Short prints the bare path.
	Short bool
	// Arg names the workspace, "" for home.
	Arg string

	finder *target.Finder
	ref    path.Reference
}

// NewOptions returns the options of a command that is called without any.
func NewOptions(finder *target.Finder) *Options {
	return &Options{finder: finder}
}

// AddFlags adds the flags of the command to flags.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.BoolVar(&o.Short, "short", o.Short, "Print only the path of the workspace")
}

// Complete reads the argument.
func (o *Options) Complete() error {
	var err error
	o.ref, err = o.finder.Parse(o.Arg)
	return err
}

// Run goes to the workspace.
func (o *Options) Run(ctx context.Context) error {
	if o.ref.Legacy && !o.Short {
		_, _ = fmt.Fprintf(o.finder.Streams.ErrOut, "note: %[1]s is read as the absolute path :%[1]s\n", o.ref)
	}
	origin, err := o.finder.Origin()
	if err != nil {
		return err
	}
	return switching.Switcher{Finder: o.finder, Short: o.Short}.Go(ctx, origin, o.ref)
}

// New returns the command.
func New(finder *target.Finder) *cobra.Command {
	o := NewOptions(finder)
	cmd := &cobra.Command{
		Use:     "use PATH",
		Aliases: []string{"cd"},
		Short:   "Go to another workspace",
		Long: `Go to another workspace: make it the current one in the kubeconfig, so that
kubectl and everything else that reads the kubeconfig works there.

PATH is one of:
` + Grammar + `

Exit codes: 0 done, 1 any error, in which case the kubeconfig is as it was.`,
		Example: `  kubectl ws use team:app
  kubectl ws use ..
  kubectl ws use :root:team`,
		Args:              run.Args(cobra.ExactArgs(1)),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Arg = args[0]
			if err := o.Complete(); err != nil {
				return err
			}
			return o.Run(cmd.Context())
		},
	}
	o.AddFlags(cmd.Flags())
	return cmd
}
