// Package createcontext is the command "kubectl ws create-context": keeping the
// current workspace under a name in the kubeconfig.
package createcontext

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/forkless/kcp/pkg/cli/kubeconfig"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/ws/target"
)

// Options are what the command is called with.
type Options struct {
	// Name of the context, "" for the path of the workspace.
	Name string
	// Overwrite allows to replace a context of that name.
	Overwrite bool

	finder *target.Finder
}

// AddFlags adds the flags of the command to flags.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.BoolVar(&o.Overwrite, "overwrite", o.Overwrite, "Replace the context if it exists already")
}

// Run writes the context.
func (o *Options) Run(ctx context.Context) error {
	// Flags hold for one call; what they say is not put into a file under a name.
	finder := o.finder.Stored()
	origin, err := finder.Origin()
	if err != nil {
		return err
	}
	if !origin.InWorkspace() {
		return fmt.Errorf("the current server %s is no workspace", origin.Server)
	}
	want := kubeconfig.NewContext{Name: o.Name, Server: origin.Server, Overwrite: o.Overwrite}
	if want.Name == "" {
		want.Name = origin.Path.String()
	}

	var change kubeconfig.Change
	err = finder.Flags.Store().Edit(ctx, func(config *api.Config) (err error) {
		change, err = kubeconfig.CreateContext(config, origin.Context(), want)
		return err
	})
	if _, exists := errors.AsType[*kubeconfig.ExistsError](err); exists {
		return fmt.Errorf("%w; use --overwrite to replace it", err)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(finder.Streams.Out, change)
	return err
}

// New returns the command.
func New(finder *target.Finder) *cobra.Command {
	o := &Options{finder: finder}
	cmd := &cobra.Command{
		Use:   "create-context [NAME]",
		Short: "Keep the current workspace as a context of its own",
		Long: `Write a context for the current workspace into the kubeconfig, and make it the
current one. It stays where it is when you go to other workspaces. Without NAME it
is called like the workspace. Connection flags other than --kubeconfig are ignored.

Exit codes: 0 done, 1 any error, in which case the kubeconfig is as it was.`,
		Example: `  kubectl ws create-context
  kubectl ws create-context production --overwrite`,
		Args:              run.Args(cobra.MaximumNArgs(1)),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				o.Name = args[0]
			}
			return o.Run(cmd.Context())
		},
	}
	o.AddFlags(cmd.Flags())
	return cmd
}
