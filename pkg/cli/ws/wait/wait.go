// Package wait is the command "kubectl ws wait": until workspaces are ready, gone, in a
// phase, or have a condition. It watches them, and when it gives up it says what was
// still missing.
package wait

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/output"
	"github.com/forkless/kcp/pkg/cli/progress"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/ws/listing"
	"github.com/forkless/kcp/pkg/cli/ws/target"
	"github.com/forkless/kcp/pkg/cli/ws/waiting"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// patience is how long workspaces are waited for.
const patience = time.Minute

// Options are what the command is called with.
type Options struct {
	// Paths name the workspaces; none stands for the current one.
	Paths []string
	// For is what is waited for.
	For string
	// Timeout is how long, 0 for a look without waiting.
	Timeout time.Duration
	// Output is the format in which the workspaces are printed when all are there.
	Output *output.Flags

	finder *target.Finder
	goal   goal
}

// NewOptions returns the options of a command that is called without any.
func NewOptions(finder *target.Finder) *Options {
	return &Options{For: ready, Timeout: patience, Output: output.New(false, output.Path), finder: finder}
}

// AddFlags adds the flags of the command to flags.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.For, "for", o.For, "What to wait for: ready, deleted, phase=PHASE or condition=TYPE[=STATUS]")
	flags.DurationVar(&o.Timeout, "timeout", o.Timeout, "How long to wait, 0 to look and not wait")
	o.Output.AddFlags(flags)
}

// Complete reads the arguments and the flags.
func (o *Options) Complete(args []string) error {
	o.Paths = args
	if len(o.Paths) == 0 {
		o.Paths = []string{""}
	}
	if o.Timeout < 0 {
		return fmt.Errorf("--timeout %s is less than nothing", o.Timeout)
	}
	if err := o.Output.Validate(); err != nil {
		return err
	}
	var err error
	o.goal, err = parseGoal(o.For)
	return err
}

// Run waits.
func (o *Options) Run(ctx context.Context) error {
	origin, err := o.finder.Origin()
	if err != nil {
		return err
	}
	var paths []logicalcluster.Path
	for _, arg := range o.Paths {
		p, err := origin.Workspace(ctx, arg)
		if err != nil {
			return err
		}
		paths = append(paths, p)
	}
	c, err := origin.Client()
	if err != nil {
		return err
	}
	subject := fmt.Sprintf("%d workspaces", len(paths))
	if len(paths) == 1 {
		subject = "workspace " + paths[0].String()
	}
	p := progress.Start(o.finder.Streams, o.finder.Display, subject)
	defer p.Done("")
	group := &group{client: c, goal: o.goal, timeout: o.Timeout, waits: make([]wait, len(paths)), progress: p}
	for i := range paths {
		group.waits[i].path = paths[i]
	}
	err = group.run(ctx)
	p.Done("")
	if err != nil {
		return err
	}
	return o.print(group.waits)
}

func (o *Options) print(waits []wait) error {
	out := o.finder.Streams.Out
	if o.Output.Document() {
		items := make([]listing.Item, 0, len(waits))
		for _, w := range waits {
			item := listing.At(w.path)
			if w.last != nil && !o.goal.deleted {
				item.Phase = w.last.Phase
			}
			items = append(items, item)
		}
		return listing.Print(out, o.Output, items)
	}
	for _, w := range waits {
		if _, err := fmt.Fprintf(out, "workspace %s: %s\n", w.path, o.goal); err != nil {
			return err
		}
	}
	return nil
}

// wait is waiting for one workspace.
type wait struct {
	path         logicalcluster.Path
	last         *waiting.State
	initializers int
	done         bool
	err          error
}

// group is waiting for several workspaces at a time.
type group struct {
	client   *client.Client
	goal     goal
	timeout  time.Duration
	progress *progress.Progress

	mu    sync.Mutex
	waits []wait
}

func (g *group) run(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, g.timeout)
	if g.timeout == 0 {
		limited, cancel = context.WithCancel(ctx)
	}
	defer cancel()
	var running sync.WaitGroup
	for i := range g.waits {
		running.Go(func() {
			w := &g.waits[i]
			if w.err = g.one(limited, w); w.err != nil && limited.Err() == nil {
				// One that cannot be waited for ends it for all.
				cancel()
			}
		})
	}
	running.Wait()
	return g.result(ctx)
}

// errNotYet ends a look without waiting.
var errNotYet = errors.New("not yet")

// one waits for one workspace.
func (g *group) one(ctx context.Context, w *wait) error {
	err := waiting.Follow(ctx, g.client, w.path, func(s *waiting.State) (bool, error) {
		if s == nil && !g.goal.deleted {
			return false, g.gone(ctx, w)
		}
		reached := g.note(w, s)
		if !reached && g.timeout == 0 {
			return false, errNotYet
		}
		return reached, nil
	})
	if g.goal.deleted && apierrors.IsNotFound(err) {
		// Not even the workspace above it is there.
		g.note(w, nil)
		return nil
	}
	return g.client.Explain(ctx, w.path, err)
}

// gone returns the error about a workspace that is not there, or not any more.
func (g *group) gone(ctx context.Context, w *wait) error {
	if w.last != nil {
		return fmt.Errorf("workspace \"%s\" has disappeared", w.path)
	}
	return g.client.Missing(ctx, w.path)
}

// note takes note of the state and says whether the goal is reached.
func (g *group) note(w *wait, s *waiting.State) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	w.done = g.goal.reached(s)
	if s != nil {
		w.last = s
		w.initializers = max(w.initializers, len(s.Initializers))
	}
	g.progress.State(g.line())
	return w.done
}

// line says how far everything is.
func (g *group) line() string {
	if len(g.waits) == 1 {
		if w := g.waits[0]; !w.done && w.last != nil {
			return w.last.Line(w.initializers)
		}
		return g.goal.String()
	}
	done, open := 0, ""
	for _, w := range g.waits {
		switch {
		case w.done:
			done++
		case open == "":
			open = ", waiting for " + w.path.String()
		}
	}
	return fmt.Sprintf("%d of %d %s%s", done, len(g.waits), g.goal, open)
}

// result returns nil if all are where they should be, or says what was missing.
func (g *group) result(ctx context.Context) error {
	var open []string
	for i := range g.waits {
		w := &g.waits[i]
		switch {
		case w.done:
		case w.err != nil && !errors.Is(w.err, context.DeadlineExceeded) && !errors.Is(w.err, context.Canceled) && !errors.Is(w.err, errNotYet) && ctx.Err() == nil:
			return w.err
		default:
			open = append(open, g.describe(w))
		}
	}
	if len(open) == 0 {
		return nil
	}
	what := fmt.Sprintf("not %s after %gs: %s", g.goal, g.timeout.Seconds(), strings.Join(open, "; "))
	if g.timeout == 0 {
		what = fmt.Sprintf("not %s: %s", g.goal, strings.Join(open, "; "))
	}
	if ctx.Err() != nil {
		return fmt.Errorf("interrupted: not %s: %s", g.goal, strings.Join(open, "; "))
	}
	return run.Timeout(run.Hint(errors.New(what), "kubectl ws why :"+g.first().String()))
}

func (g *group) describe(w *wait) string {
	if w.last == nil {
		return fmt.Sprintf("workspace %s has not been seen", w.path)
	}
	return fmt.Sprintf("workspace %s: %s", w.path, g.goal.missing(*w.last))
}

// first returns the first workspace that is not where it should be.
func (g *group) first() logicalcluster.Path {
	for i := range g.waits {
		if !g.waits[i].done {
			return g.waits[i].path
		}
	}
	return logicalcluster.Path{}
}

// New returns the command.
func New(finder *target.Finder) *cobra.Command {
	o := NewOptions(finder)
	cmd := &cobra.Command{
		Use:   "wait [PATH...]",
		Short: "Wait until workspaces are ready, or something else",
		Long: `Wait until the current workspace, or all of those at PATH, are ready, or what --for
says:

  ready                    can be used
  deleted                  gone
  phase=PHASE              in that phase
  condition=TYPE[=STATUS]  has that condition, with the status True if none is given

Exit codes: 0 it is so, 1 any error, 4 the timeout ran out; the error says what was
missing. 130 interrupted.`,
		Example: `  kubectl ws wait eu
  kubectl ws wait :root:acme:eu :root:acme:us --timeout 5m
  kubectl ws wait eu --for deleted
  kubectl ws wait eu --for condition=WorkspaceInitialized`,
		Args:              cobra.ArbitraryArgs,
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
