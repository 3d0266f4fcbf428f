// Package status is the verb "kcp status": which servers run on this machine, and how
// they are doing.
//
// That a server runs is known without asking it. What it says itself, by the kubeconfig
// of its admins, is left out if it does not answer: how much memory it has, and how many
// workspaces.
package status

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/forkless/kcp/pkg/cli/display"
	"github.com/forkless/kcp/pkg/cli/kcp/running"
	"github.com/forkless/kcp/pkg/cli/output"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/server/options"
)

// Options are what can be asked of the verb.
type Options struct {
	// RootDirectory is the directory of the server.
	RootDirectory string
	// All asks for all servers of the user.
	All bool
	// Output says what the answer is to look like.
	Output *output.Flags

	streams run.Streams
	now     func() time.Time
	// ask asks a server.
	ask func(context.Context, running.Server) answer
}

// New returns the command.
func New(streams run.Streams) *cobra.Command {
	o := &Options{
		RootDirectory: options.NewOptions().RootDirectory,
		Output:        output.New(false),
		streams:       streams,
		now:           time.Now,
		ask:           ask,
	}
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the server of a root directory",
		Long: "Shows the server that runs in a root directory, or with --all every server that you run on\n" +
			"this machine, those of \"kcp run\" included.\n\n" +
			"Exit codes: 0 there is one, 1 any error, 3 nothing is running.",
		Example: "  kcp status\n  kcp status --all\n  kcp status -o jsonpath='{.url}'",
		Args:    run.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.Output.Validate(); err != nil {
				return err
			}
			if o.All && cmd.Flags().Changed("root-directory") {
				return run.Misuse(cmd, fmt.Errorf("--all is about all root directories, and not about %s", o.RootDirectory))
			}
			return o.Run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&o.RootDirectory, "root-directory", o.RootDirectory, "Directory of the server.")
	cmd.Flags().BoolVar(&o.All, "all", o.All, "Show all servers that you run.")
	o.Output.AddFlags(cmd.Flags())
	return cmd
}

// Run shows the server, or all servers. The error is run.ErrNo if there is none.
func (o *Options) Run(ctx context.Context) error {
	if o.All {
		return o.showAll(ctx)
	}
	server, found, err := running.In(o.RootDirectory)
	if err != nil {
		return err
	}
	if !found {
		return o.nothing("in " + o.RootDirectory)
	}
	view := newView(server, o.ask(ctx, server), o.now())
	if o.Output.Document() {
		return o.Output.PrintView(o.streams.Out, view)
	}
	return writeOne(o.streams.Out, view)
}

func (o *Options) showAll(ctx context.Context) error {
	servers, err := running.All()
	if err != nil {
		return err
	}
	views := make([]ServerStatus, len(servers))
	var asking sync.WaitGroup
	for i, server := range servers {
		asking.Go(func() { views[i] = newView(server, o.ask(ctx, server), o.now()) })
	}
	asking.Wait()
	switch {
	case o.Output.Document():
		err = o.Output.PrintView(o.streams.Out, newList(views))
	case len(views) > 0:
		err = writeAll(o.streams.Out, (*display.Flags)(nil).For(o.streams.Out), o.Output.NoHeaders, views)
	}
	if err != nil {
		return err
	}
	if len(views) == 0 {
		return o.nothing("of yours")
	}
	return nil
}

// nothing says that there is no server.
func (o *Options) nothing(where string) error {
	if _, err := fmt.Fprintf(o.streams.ErrOut, "nothing is running %s\n", where); err != nil {
		return err
	}
	return run.ErrNo
}
