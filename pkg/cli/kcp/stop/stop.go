// Package stop is the verb "kcp stop": it ends servers, and waits until they have let go
// of what they held. Stopping what is not running is no error.
package stop

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/forkless/kcp/pkg/cli/kcp/running"
	"github.com/forkless/kcp/pkg/cli/kubeconfig"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/server/options"
)

const (
	defaultTimeout = 30 * time.Second
	pollInterval   = 20 * time.Millisecond
)

// Options are what can be asked of the verb.
type Options struct {
	// RootDirectory is the directory of the server.
	RootDirectory string
	// ID is the identifier of the server, instead of its directory.
	ID string
	// All stops all servers of the user.
	All bool
	// Timeout is how long to wait for them.
	Timeout time.Duration

	streams run.Streams
	// signal asks a process to end.
	signal func(pid int) error
}

// New returns the command.
func New(streams run.Streams) *cobra.Command {
	o := &Options{
		RootDirectory: options.NewOptions().RootDirectory,
		Timeout:       defaultTimeout,
		streams:       streams,
		signal:        terminate,
	}
	cmd := &cobra.Command{
		Use:   "stop [RUN_ID]",
		Short: "Stop a server",
		Long: "Stops the server of a root directory, the one with an identifier, or all servers that you\n" +
			"run on this machine, and waits until they have stopped.\n\n" +
			"Exit codes: 0 stopped, or nothing was running, 1 any error.",
		Example: "  kcp stop\n  kcp stop --root-directory ~/demo/.kcp\n  kcp stop $KCP_RUN_ID\n  kcp stop --all",
		Args:    run.Args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				o.ID = args[0]
			}
			if err := o.validate(cmd.Flags().Changed("root-directory"), len(args) > 0); err != nil {
				return run.Misuse(cmd, err)
			}
			return o.Run(cmd.Context())
		},
		ValidArgsFunction: complete,
	}
	cmd.Flags().StringVar(&o.RootDirectory, "root-directory", o.RootDirectory, "Directory of the server.")
	cmd.Flags().BoolVar(&o.All, "all", o.All, "Stop all servers that you run.")
	cmd.Flags().DurationVar(&o.Timeout, "timeout", o.Timeout, "How long to wait until they have stopped.")
	return cmd
}

// complete offers the identifiers of servers.
func complete(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var ids []cobra.Completion
	if servers, err := running.All(); err == nil && len(args) == 0 {
		for _, server := range servers {
			ids = append(ids, cobra.CompletionWithDesc(server.ID, server.RootDirectory))
		}
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}

// validate says that servers are named in more than one way.
func (o *Options) validate(byDirectory, byID bool) error {
	switch {
	case byID && o.ID == "":
		// As of a variable that is not set: another server is not meant.
		return errors.New("the identifier is empty")
	case o.All && (byDirectory || byID), byDirectory && byID:
		return errors.New("RUN_ID, --root-directory and --all exclude each other")
	default:
		return nil
	}
}

// Run stops the servers and waits until they are gone. What servers that were killed have
// left in the kubeconfig of the user goes as well.
func (o *Options) Run(ctx context.Context) error {
	defer o.forget(ctx)
	servers, where, err := o.find()
	if err != nil {
		return err
	}
	if len(servers) == 0 {
		_, err := fmt.Fprintf(o.streams.ErrOut, "nothing is running %s\n", where)
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, o.Timeout, errTimeout)
	defer cancel()
	// All are told before the first is waited for.
	var errs []error
	var told []running.Server
	for _, server := range servers {
		if err := o.signal(server.PID); err != nil {
			errs = append(errs, fmt.Errorf("stopping pid %d: %w", server.PID, err))
			continue
		}
		told = append(told, server)
	}
	for _, server := range told {
		if err := o.wait(ctx, server); err != nil {
			errs = append(errs, err)
			continue
		}
		if _, err := fmt.Fprintf(o.streams.Out, "kcp pid %d has stopped\n", server.PID); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// find returns the servers that are meant, and where they were looked for.
func (o *Options) find() (servers []running.Server, where string, err error) {
	if o.All {
		servers, err = running.All()
		return servers, "of yours", err
	}
	var (
		server running.Server
		found  bool
	)
	if o.ID != "" {
		where = "with the identifier " + o.ID
		server, found, err = running.Named(o.ID)
	} else {
		where = "in " + o.RootDirectory
		server, found, err = running.In(o.RootDirectory)
	}
	if err != nil || !found {
		return nil, where, err
	}
	if server.PID == 0 {
		return nil, where, fmt.Errorf("%s is in use by a process that has not said which one it is; try again", o.RootDirectory)
	}
	return []running.Server{server}, where, nil
}

// errTimeout is why waiting ends.
var errTimeout = errors.New("time is over")

// wait returns when a server is gone.
func (o *Options) wait(ctx context.Context, server running.Server) error {
	ticks := time.NewTicker(pollInterval)
	defer ticks.Stop()
	for {
		gone, err := running.Gone(server)
		if err != nil {
			return fmt.Errorf("waiting for pid %d: %w", server.PID, err)
		}
		if gone {
			return nil
		}
		select {
		case <-ticks.C:
		case <-ctx.Done():
			if errors.Is(context.Cause(ctx), errTimeout) {
				return fmt.Errorf("pid %d has not stopped after %s", server.PID, o.Timeout)
			}
			return ctx.Err()
		}
	}
}

// forget takes out of the kubeconfig what was merged into it for servers that do not run.
// They take it out themselves when they stop in order.
func (o *Options) forget(ctx context.Context) {
	flags := &kubeconfig.Flags{}
	snapshot, err := flags.Load()
	if err != nil || !snapshot.HasMerged() {
		return
	}
	gone := func(rootDirectory string) bool {
		_, found, err := running.In(rootDirectory)
		return err == nil && !found
	}
	var removed []string
	err = flags.Store().Edit(ctx, func(config *api.Config) error {
		removed = kubeconfig.Unmerge(config, gone)
		return nil
	})
	for _, name := range removed {
		if err == nil {
			_, _ = fmt.Fprintf(o.streams.ErrOut, "removed context %q of a server that has gone from the kubeconfig\n", name)
		}
	}
	if err != nil {
		_, _ = fmt.Fprintf(o.streams.ErrOut, "warning: the kubeconfig still has contexts of servers that have gone: %v\n", err)
	}
}

// terminate asks a process to end in order. Windows has no way to do so.
func terminate(pid int) error {
	process, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	return process.Signal(syscall.SIGTERM)
}
