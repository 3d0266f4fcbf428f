package start

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/forkless/kcp/internal/launch"
	"github.com/forkless/kcp/internal/memory"
	"github.com/forkless/kcp/internal/registry"
	"github.com/forkless/kcp/internal/version"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/server/options"
)

// Server is a server as far as the command cares.
type Server interface {
	// Run serves until ctx ends and returns when everything has stopped.
	Run(ctx context.Context) error
	// Ready is closed when the server is ready. It may never be.
	Ready() <-chan struct{}
	// URL is where clients reach it.
	URL() string
}

// NewServer makes a server. It is called with the port bound and the root directory
// locked.
type NewServer func(ctx context.Context, prepared *options.Prepared) (Server, error)

// Options are what can be asked of the verb.
type Options struct {
	// Server are the options of the server.
	Server *options.Options
	// Detach runs it in the background.
	Detach bool
	// MergeName is the context for it in the kubeconfig of the user; empty for none.
	MergeName string

	// detached says that this process is the one in the background.
	detached bool
	// arguments are those of the process, its name included.
	arguments []string

	streams   run.Streams
	newServer NewServer
	// terminal says that people watch.
	terminal bool
	// began is when the process did.
	began time.Time
	now   func() time.Time
	info  version.Info
}

// shownFlags are the flags in the help of the verb; the others are listed by
// "kcp start options".
var shownFlags = []string{
	"root-directory", "secure-port", "batteries-included",
	"detach", "idle-stop", "in-memory", "merge-kubeconfig",
}

// New returns the command. newServer makes the server it runs.
func New(streams run.Streams, newServer NewServer) *cobra.Command {
	o := &Options{
		Server:    options.NewOptions(),
		arguments: os.Args,
		streams:   streams,
		newServer: newServer,
		terminal:  isTerminal(streams.Out) && isTerminal(streams.ErrOut),
		began:     time.Now(),
		now:       time.Now,
		info:      version.Get(),
	}
	cmd := &cobra.Command{
		Use:   "start",
		Short: "Run a server",
		Long: "Runs a server until it is told to stop. Everything it keeps lies in the root directory,\n" +
			"where a later start finds it again. Admins get a kubeconfig there.\n\n" +
			"A second ctrl-c stops at once. Exit codes: 0 stopped in order, 1 any error.",
		Example: "  kcp start\n  kcp start --root-directory /var/lib/kcp --bind-address 127.0.0.1\n" +
			"  kcp start --detach --merge-kubeconfig --idle-stop 30m",
		Args: run.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("merge-kubeconfig") && o.MergeName == "" {
				return run.Misuse(cmd, errors.New("--merge-kubeconfig is empty: it takes the name of a context, which is "+mergedName+" without one"))
			}
			if o.Detach && !o.detached {
				return o.detach(cmd.Context())
			}
			return o.Run(cmd.Context())
		},
	}
	o.Server.AddFlags(cmd.Flags())
	o.addFlags(cmd.Flags())
	cmd.Flags().BoolVar(&o.detached, detachedFlag, o.detached, "This process is the one in the background.")
	showOnly(cmd.Flags(), shownFlags)
	cmd.SetUsageTemplate(cmd.UsageTemplate() + "\n" + hintOptions)
	cmd.AddCommand(newOptionsCommand(streams))
	return cmd
}

// addFlags adds the flags that are about the process and not about the server in it.
func (o *Options) addFlags(flags *pflag.FlagSet) {
	flags.BoolVar(&o.Detach, "detach", o.Detach,
		"Run in the background: return when the server is ready, or with what it has failed with.")
	flags.StringVar(&o.MergeName, "merge-kubeconfig", o.MergeName,
		"Put a context of this `NAME` into your kubeconfig for as long as the server runs.")
	flags.Lookup("merge-kubeconfig").NoOptDefVal = mergedName
}

// Run runs the server until ctx ends. Being told to stop is not an error.
func (o *Options) Run(ctx context.Context) (err error) {
	completed, err := o.Server.Complete()
	if err != nil {
		return err
	}
	if o.detached && completed.RootDirectory == "" {
		return errors.New("--detach needs a root directory, where the log is")
	}
	if err := o.checkMerge(completed); err != nil {
		return err
	}
	claim, err := launch.Take(ctx, completed)
	if err != nil {
		return withHint(err)
	}
	wasReady := false
	defer func() {
		letGo := claim.Release
		if err != nil && !wasReady {
			letGo = claim.Abandon
		}
		err = errors.Join(err, letGo())
	}()

	view, err := o.openView(claim)
	if err != nil {
		return err
	}
	defer view.close()
	for _, warning := range Warnings(completed) {
		view.warn(warning)
	}

	server, err := o.newServer(ctx, claim.Prepared)
	if err != nil {
		return err
	}
	wasReady, err = o.serve(ctx, server, view, claim)
	return err
}

// serve runs the server and says when it is ready, and when it is about to stop.
func (o *Options) serve(ctx context.Context, server Server, view view, claim *launch.Claim) (wasReady bool, err error) {
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	resting, stop := context.WithCancel(ctx)
	defer stop()
	memory.KeepDense()
	go memory.ReleaseAtRest(resting)

	var undo []func() error
	defer func() {
		for _, undo := range undo {
			if err := undo(); err != nil {
				view.warn(err.Error())
			}
		}
	}()
	ready, told := server.Ready(), ctx.Done()
	for {
		select {
		case <-ready:
			ready, wasReady = nil, true
			undo = o.announce(ctx, server, claim, view)
			view.ready(o.summary(server, claim))
		case <-told:
			told = nil
			view.stopping()
		case err := <-ended:
			// Both may have happened before either was noticed.
			if told != nil && ctx.Err() != nil {
				view.stopping()
			}
			if ctx.Err() != nil && errors.Is(err, context.Canceled) {
				return wasReady, nil
			}
			if err == nil && ctx.Err() == nil {
				view.idle(claim.Prepared.Shutdown.Idle)
			}
			return wasReady, err
		}
	}
}

// announce makes the server known where people and commands look for it, and returns what
// takes that back. A server that cannot be found there serves all the same.
func (o *Options) announce(ctx context.Context, server Server, claim *launch.Claim, view view) (undo []func() error) {
	completed := claim.Prepared.Completed
	if o.MergeName != "" {
		unmerge, err := o.merge(ctx, completed)
		if err != nil {
			view.warn(fmt.Sprintf("--merge-kubeconfig: %v", err))
		} else {
			undo = append(undo, unmerge)
		}
	}
	leave, err := registry.Register(registry.Entry{
		ID: registry.NewID(), PID: os.Getpid(), RootDirectory: completed.RootDirectory,
		URL: server.URL(), Version: o.info.Version, Started: o.began,
	})
	if err != nil {
		view.warn(err.Error())
	} else {
		undo = append(undo, leave)
	}
	return undo
}

// Warnings are what people should know before a server with the options is ready.
func Warnings(completed *options.Completed) []string {
	var all []string
	if completed.Serving.ListensBeyondLoopback() && completed.Batteries.Has(options.AdminBattery) {
		all = append(all, "other machines can reach the server, and the admin battery is on; "+
			"--bind-address=127.0.0.1 keeps them out")
	}
	if completed.Audit.LogOptions.Path != "" && completed.Audit.PolicyFile == "" {
		all = append(all, "nothing is written to --audit-log-path without --audit-policy-file, which says what is")
	}
	if len(completed.WithoutEffect) > 0 {
		all = append(all, fmt.Sprintf("without effect in this version: %s", join(completed.WithoutEffect)))
	}
	return all
}

// withHint adds to an error what can be done about it.
func withHint(err error) error {
	inUse, ok := errors.AsType[*launch.PortInUseError](err)
	switch {
	case !ok:
		return err
	case inUse.Owner.RootDirectory != "":
		return run.Hint(err, fmt.Sprintf("kcp stop --root-directory %s, or --secure-port=0 for a free port",
			quote(inUse.Owner.RootDirectory)))
	default:
		return run.Hint(err, "--secure-port=0 takes a free port")
	}
}
