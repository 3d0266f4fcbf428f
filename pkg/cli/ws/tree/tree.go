package tree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/output"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/ws/switching"
	"github.com/forkless/kcp/pkg/cli/ws/target"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// The formats that only trees have.
const (
	formatDot     = "dot"
	formatMermaid = "mermaid"
)

// Options are what the command is called with.
type Options struct {
	// Full shows the path of each workspace instead of its name.
	Full bool
	// Wide shows the phases of each workspace, Status what it is and waits for.
	Wide, Status bool
	// Bindings shows the exports and bindings in each workspace.
	Bindings bool
	// All shows workspaces that are being deleted, too.
	All bool
	// Depth is how many levels below the start are shown, 0 for all.
	Depth int
	// Type and Phase pick workspaces, "" for all.
	Type, Phase string
	// Watch goes on until it is interrupted.
	Watch bool
	// Start names the workspace to start at, "" for the current one.
	Start string
	// Output is the format.
	Output *output.Flags

	finder *target.Finder
	now    func() time.Time
}

// AddFlags adds the flags of the command to flags.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.BoolVarP(&o.Full, "full", "f", o.Full, "Show full paths instead of names")
	flags.BoolVar(&o.Wide, "wide", o.Wide, "Show the phases of the workspace and of its logical cluster")
	flags.BoolVar(&o.Status, "status", o.Status, "Show the type and, of workspaces that are not ready, what they wait for")
	flags.BoolVar(&o.Bindings, "bindings", o.Bindings, "Show exports and bindings as leaves, in graphs as edges from provider to consumer")
	flags.BoolVar(&o.All, "all", o.All, "Show workspaces that are being deleted, too")
	flags.IntVar(&o.Depth, "depth", o.Depth, "Number of levels to show below the start, 0 for all")
	flags.StringVar(&o.Type, "type", o.Type, "Show workspaces of this type and what leads to them, as [PATH:]NAME")
	flags.StringVar(&o.Phase, "phase", o.Phase, "Show workspaces in this phase and what leads to them")
	flags.BoolVar(&o.Watch, "watch", o.Watch, "Go on showing changes until interrupted")
	flags.StringVarP(&o.Start, "workspace", "w", o.Start, "Workspace to start at, instead of the current one")
	o.Output.AddFlags(flags)
}

// Complete reads the arguments.
func (o *Options) Complete(args []string) error {
	if len(args) > 0 {
		if o.Start != "" {
			return errors.New("the workspace to start at is named twice, by PATH and by --workspace")
		}
		o.Start = args[0]
	}
	o.Wide = o.Wide || o.Output.Format == output.Wide
	return nil
}

// Validate finds what makes no sense, before anything is asked.
func (o *Options) Validate() error {
	if o.Depth < 0 {
		return errors.New("--depth must not be negative")
	}
	if err := checkPhase(o.Phase); err != nil {
		return err
	}
	if o.Watch && o.Output.Document() && o.Output.Format != "json" {
		return errors.New("--watch goes with the drawing and with -o json only")
	}
	return o.Output.Validate()
}

// checkPhase says that there is no such phase: no workspace will ever be in it.
func checkPhase(phase string) error {
	var names []string
	for _, p := range corev1alpha1.Phases() {
		if phase == "" || strings.EqualFold(string(p), phase) {
			return nil
		}
		names = append(names, string(p))
	}
	return fmt.Errorf("unknown phase %q, known are %s", phase, strings.Join(names, ", "))
}

// Run draws the tree.
func (o *Options) Run(ctx context.Context) error {
	origin, err := o.finder.Origin()
	if err != nil {
		return err
	}
	if o.Start == "" && !origin.InWorkspace() {
		return switching.Print(o.finder.Streams.Out, origin.Place, "", false)
	}
	start, err := origin.Workspace(ctx, o.Start)
	if err != nil {
		return err
	}
	c, err := origin.Client()
	if err != nil {
		return err
	}
	if o.Watch {
		return c.Explain(ctx, start, o.watch(ctx, c, start))
	}
	return c.Explain(ctx, start, o.once(ctx, c, start))
}

// once grows the tree and shows it.
func (o *Options) once(ctx context.Context, s server, start logicalcluster.Path) error {
	top, m, err := o.grow(ctx, s, start)
	if err != nil {
		return err
	}
	return o.show(o.filter().prune(top), m)
}

func (o *Options) filter() filter { return filter{kind: o.Type, phase: o.Phase} }

// show writes the tree in the format that was asked for.
func (o *Options) show(top *node, m *more) error {
	out := o.finder.Streams.Out
	switch o.Output.Format {
	case "", output.Wide:
		lines := o.sketch(m).draw(top)
		if !o.Wide && !o.Status {
			// Today's plugins end a plain drawing with an empty line.
			lines = append(lines, "")
		}
		return write(out, lines)
	case output.Path:
		return write(out, paths(top))
	case output.Name:
		return write(out, names(top))
	case formatDot:
		return write(out, m.graph(top).dot(o.Full))
	case formatMermaid:
		return write(out, m.graph(top).mermaid(o.Full))
	default:
		return o.Output.PrintView(out, m.view(top))
	}
}

func (o *Options) sketch(m *more) *sketch {
	return &sketch{
		display: o.finder.Display.For(o.finder.Streams.Out),
		full:    o.Full, wide: o.Wide, status: o.Status, bindings: o.Bindings, more: m, now: o.now(),
	}
}

func write(w io.Writer, lines []string) error {
	if len(lines) == 0 {
		return nil
	}
	_, err := io.WriteString(w, strings.Join(lines, "\n")+"\n")
	return err
}

// New returns the command.
func New(finder *target.Finder) *cobra.Command {
	o := &Options{finder: finder, Output: output.New(true, output.Path, formatDot, formatMermaid), now: time.Now}
	cmd := &cobra.Command{
		Use:   "tree [PATH]",
		Short: "Draw the workspaces below the current one",
		Long: `Draw the workspaces below the current one, or below PATH. Mounted workspaces are
marked with [m], those that you may not look into with (no access), those that could
not be read with (error: ...), and those whose children are too deep with the number of
them, such as (+12). Workspaces that are being deleted are left out without --all.

With --type and --phase, workspaces that were not asked for are drawn if they lead to
some that were; -o path and -o name print only those that were asked for.

With --watch the tree is drawn again whenever it changes. Where there is no terminal the
tree is drawn once, and then each change is a line of its own, or with -o json an object
in a line of its own.

Exit codes: 0 the workspace to start at could be read, 1 any error.`,
		Example: `  kubectl ws tree
  kubectl ws tree :root:acme --depth 2
  kubectl ws tree --status
  kubectl ws tree --phase Initializing -o path
  kubectl ws tree --bindings -o dot | dot -Tsvg -o tree.svg`,
		Args:              run.Args(cobra.MaximumNArgs(1)),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.Complete(args); err != nil {
				return run.Misuse(cmd, err)
			}
			if err := o.Validate(); err != nil {
				return err
			}
			return o.Run(cmd.Context())
		},
	}
	o.AddFlags(cmd.Flags())
	return cmd
}
