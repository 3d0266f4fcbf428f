// Package current is the command "kubectl ws current": saying which workspace the
// kubeconfig points at. It makes no request.
package current

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/ws/switching"
	"github.com/forkless/kcp/pkg/cli/ws/target"
)

// Options are what the command is called with.
type Options struct {
	// Short prints the bare path, and nothing where there is no workspace.
	Short bool

	finder *target.Finder
}

// AddFlags adds the flags of the command to flags.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.BoolVar(&o.Short, "short", o.Short, "Print only the path of the workspace")
}

// Run prints the current workspace.
func (o *Options) Run() error {
	origin, err := o.finder.Origin()
	if err != nil {
		return err
	}
	return switching.Print(o.finder.Streams.Out, origin.Place, "", o.Short)
}

// New returns the command.
func New(finder *target.Finder) *cobra.Command {
	o := &Options{finder: finder}
	cmd := &cobra.Command{
		Use:   "current",
		Short: "Print the current workspace",
		Long: `Print the workspace that the kubeconfig points at. The server is not asked, so
that the command is quick enough for a prompt. With --short it prints the bare
path, and nothing if the kubeconfig points at no workspace.

Exit codes: 0 done, 1 any error.`,
		Example: `  kubectl ws current
  PS1='[$(kubectl ws current --short)] $ '`,
		Args:              run.Args(cobra.ExactArgs(0)),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(*cobra.Command, []string) error { return o.Run() },
	}
	o.AddFlags(cmd.Flags())
	return cmd
}
