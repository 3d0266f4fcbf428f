// Package stop is the verb "kcp stop": it ends the server that holds a root directory,
// and waits until it has let go. Stopping what is not running is no error.
package stop

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/forkless/kcp/internal/rootdir"
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
	// Timeout is how long to wait for it.
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
		Use:     "stop",
		Short:   "Stop the server of a root directory",
		Example: "  kcp stop\n  kcp stop --root-directory ~/demo/.kcp",
		Args:    run.Args(cobra.NoArgs),
		RunE:    func(cmd *cobra.Command, _ []string) error { return o.Run(cmd.Context()) },
	}
	cmd.Flags().StringVar(&o.RootDirectory, "root-directory", o.RootDirectory, "Directory of the server.")
	cmd.Flags().DurationVar(&o.Timeout, "timeout", o.Timeout, "How long to wait until it has stopped.")
	return cmd
}

// Run stops the server and waits until it has let go of its directory.
func (o *Options) Run(ctx context.Context) error {
	directory, err := filepath.Abs(o.RootDirectory)
	if err != nil {
		return fmt.Errorf("--root-directory=%s: %w", o.RootDirectory, err)
	}
	holder, held, err := rootdir.HolderOf(directory)
	if err != nil {
		return fmt.Errorf("looking for the server of %s: %w", o.RootDirectory, err)
	}
	if !held {
		_, err := fmt.Fprintf(o.streams.ErrOut, "nothing is running in %s\n", o.RootDirectory)
		return err
	}
	if holder.PID == 0 {
		return fmt.Errorf("%s is in use by a process that has not said which one it is; try again", o.RootDirectory)
	}
	if err := o.signal(holder.PID); err != nil {
		return fmt.Errorf("stopping pid %d: %w", holder.PID, err)
	}
	if err := o.wait(ctx, directory, holder.PID); err != nil {
		return err
	}
	_, err = fmt.Fprintf(o.streams.Out, "kcp pid %d has stopped\n", holder.PID)
	return err
}

// wait returns when the process does not hold the directory any more.
func (o *Options) wait(ctx context.Context, directory string, pid int) error {
	timeout := time.NewTimer(o.Timeout)
	defer timeout.Stop()
	ticks := time.NewTicker(pollInterval)
	defer ticks.Stop()
	for {
		holder, held, err := rootdir.HolderOf(directory)
		if err != nil {
			return fmt.Errorf("waiting for pid %d: %w", pid, err)
		}
		if !held || (holder.PID != pid && holder.PID != 0) {
			return nil
		}
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return ctx.Err()
		case <-timeout.C:
			return fmt.Errorf("pid %d has not stopped after %s", pid, o.Timeout)
		}
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
