// Package tree is the command "kubectl kcp type tree": which workspace types there are to
// use, and which of them extends which.
package tree

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/forkless/kcp/pkg/cli/kcpplugin/types/view"
	"github.com/forkless/kcp/pkg/cli/output"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/typeref"
	"github.com/forkless/kcp/pkg/cli/ws/target"
)

// The formats that only graphs have.
const (
	formatDot     = "dot"
	formatMermaid = "mermaid"
)

// Options are what the command is called with.
type Options struct {
	// Path names the workspace, "" for the current one.
	Path string
	// Workspace is another way to name it.
	Workspace string

	finder *target.Finder
	output *output.Flags
}

// AddFlags adds the flags of the command to flags.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.StringVarP(&o.Workspace, "workspace", "w", o.Workspace, "Workspace in which the types are to be used, instead of the current one")
	o.output.AddFlags(flags)
}

// Run draws the types.
func (o *Options) Run(ctx context.Context) error {
	source, place, err := typeref.From(ctx, o.finder, cmp.Or(o.Path, o.Workspace))
	if err != nil {
		return err
	}
	sets, err := gatherer{source: source, skip: o.skip}.gather(ctx, place.Path)
	if err != nil {
		return err
	}
	if len(sets) == 0 && !o.output.Document() {
		_, _ = fmt.Fprintf(o.finder.Streams.ErrOut, "No workspace types that %s can use.\n", place.Path)
		return nil
	}
	return o.print(o.finder.Streams.Out, newGraph(sets))
}

func (o *Options) skip(err error) {
	_, _ = fmt.Fprintf(o.finder.Streams.ErrOut, "note: %s\n", run.Message(err))
}

func (o *Options) print(out io.Writer, g *graph) error {
	switch o.output.Format {
	case "":
		return draw(out, o.finder.Display.For(out), g)
	case formatDot:
		return drawDot(out, g)
	case formatMermaid:
		return drawMermaid(out, g)
	case output.Name:
		for _, n := range g.nodes {
			if _, err := fmt.Fprintln(out, n); err != nil {
				return err
			}
		}
		return nil
	}
	var items []unstructured.Unstructured
	for _, n := range g.nodes {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(view.Of(n.set))
		if err != nil {
			return err
		}
		items = append(items, unstructured.Unstructured{Object: content})
	}
	return o.output.Print(out, output.List(items))
}

// New returns the command.
func New(finder *target.Finder) *cobra.Command {
	o := &Options{finder: finder, output: output.New(false, formatDot, formatMermaid)}
	cmd := &cobra.Command{
		Use:   "tree [PATH]",
		Short: "Show which workspace types there are, and what they extend",
		Long: `Show the workspace types that can be used in the current workspace, or in the one at
PATH, without saying where they are: those in it, above it and in root. Each is drawn
below the types that it extends.

With -o name it prints what "--type" takes, with -o dot and -o mermaid the graph for
programs that draw graphs.

Exit codes: 0 done, 1 any error.`,
		Example: `  kubectl kcp type tree
  kubectl kcp type tree :root:acme -o dot | dot -Tsvg > types.svg`,
		Args:              run.Args(cobra.MaximumNArgs(1)),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				o.Path = args[0]
			}
			if err := o.output.Validate(); err != nil {
				return err
			}
			return o.Run(cmd.Context())
		},
	}
	o.AddFlags(cmd.Flags())
	return cmd
}
