// Package exec is the command "kubectl ws exec": running a program in other workspaces.
// It gets a kubeconfig for the workspace alone; that of the user stays as it is, so that
// nothing else notices.
package exec

import (
	"context"
	"errors"
	"fmt"
	"os"
	osexec "os/exec"
	"strings"

	"github.com/spf13/cobra"

	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/display"
	"github.com/forkless/kcp/pkg/cli/kubeconfig"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/ws/child"
	"github.com/forkless/kcp/pkg/cli/ws/switching"
	"github.com/forkless/kcp/pkg/cli/ws/target"
	"github.com/forkless/kcp/pkg/cli/ws/walk"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// placeholder stands for the path of the workspace in the arguments of the program.
const placeholder = "{}"

// Run runs the program.
func (o *Options) Run(ctx context.Context) error {
	origin, err := o.finder.Origin()
	if err != nil {
		return err
	}
	paths, err := o.workspaces(ctx, origin)
	if err != nil {
		return err
	}
	if len(paths) == 1 && !o.Recursive {
		return o.single(origin, paths[0])
	}
	if len(paths) == 0 {
		_, err := fmt.Fprintln(o.finder.Streams.ErrOut, "There are no workspaces to run it in.")
		return err
	}
	return o.several(origin, paths)
}

// workspaces returns where to run, after making sure that all of it is there: a mistyped
// name is found before anything has run.
func (o *Options) workspaces(ctx context.Context, origin *target.Origin) ([]logicalcluster.Path, error) {
	c, err := origin.Client()
	if err != nil {
		return nil, err
	}
	var paths []logicalcluster.Path
	known := map[logicalcluster.Path]bool{}
	for _, arg := range o.Paths {
		p, err := origin.Workspace(ctx, arg)
		if err != nil {
			return nil, err
		}
		found := []logicalcluster.Path{p}
		if o.Recursive {
			found, err = below(ctx, c, p)
		} else {
			err = switching.Check(ctx, c, p)
		}
		if err != nil {
			return nil, err
		}
		for _, p := range found {
			if !known[p] {
				known[p] = true
				paths = append(paths, p)
			}
		}
	}
	return paths, nil
}

// below returns the workspaces below p. What is mounted is none of this server.
func below(ctx context.Context, c *client.Client, p logicalcluster.Path) ([]logicalcluster.Path, error) {
	top, err := walk.Walk(ctx, c, p, walk.Options{})
	if err != nil {
		return nil, err
	}
	var paths []logicalcluster.Path
	for _, n := range top.All()[1:] {
		if !n.Mount() {
			paths = append(paths, n.Path)
		}
	}
	return paths, nil
}

// single runs the program as if it had been called itself.
func (o *Options) single(origin *target.Origin, p logicalcluster.Path) error {
	streams := o.finder.Streams
	keeper := child.Listen()
	defer keeper.Close()
	keeper.Attached = display.IsTerminal(streams.In)
	code, err := o.in(origin, p, func(cmd *osexec.Cmd) (int, error) {
		cmd.Stdin, cmd.Stdout, cmd.Stderr = streams.In, streams.Out, streams.ErrOut
		return keeper.Run(cmd)
	})
	if err != nil {
		return run.Code(max(code, 1), err)
	}
	return run.Exit(code)
}

// in gives the program to run, with its own kubeconfig, which it takes away afterwards.
func (o *Options) in(origin *target.Origin, p logicalcluster.Path, start func(*osexec.Cmd) (int, error)) (code int, err error) {
	config, err := origin.Private(p)
	if err != nil {
		return 1, err
	}
	file, err := kubeconfig.WritePrivate(config)
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, file.Remove()) }()

	args := make([]string, 0, len(o.Command))
	for _, arg := range o.Command {
		args = append(args, strings.ReplaceAll(arg, placeholder, p.String()))
	}
	cmd := osexec.Command(args[0], args[1:]...) //nolint:noctx,gosec // because signals are passed on, and to run it is what the user asked for
	cmd.Env = append(os.Environ(), "KUBECONFIG="+file.Name)
	return start(cmd)
}

// New returns the command.
func New(finder *target.Finder) *cobra.Command {
	o := NewOptions(finder)
	cmd := &cobra.Command{
		Use:   "exec [PATH...] -- COMMAND [ARG...]",
		Short: "Run a command in other workspaces",
		Long: `Run a command in the workspaces at PATH, or in the current one. It gets a kubeconfig of
its own for that workspace; yours is not touched. {} in an argument is replaced by the
path of the workspace.

With several workspaces, or with -R in all those below, the commands run side by side and
have no input. What they print is shown under a header at a terminal, and with the path
before each line elsewhere. Mounted workspaces are left out of -R.

Exit codes: that of the command, the highest if there are several; 126 it cannot be run,
127 it was not found, 1 any other error.`,
		Example: `  kubectl ws exec :root:acme -- kubectl get configmaps
  kubectl ws exec -R :root:acme -- kubectl get apibindings -o name
  kubectl ws exec eu us -- sh -c 'kubectl get secrets -o yaml > {}.yaml'`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.Complete(args, cmd.ArgsLenAtDash()); err != nil {
				return run.Misuse(cmd, err)
			}
			return o.Run(cmd.Context())
		},
	}
	o.AddFlags(cmd.Flags())
	return cmd
}
