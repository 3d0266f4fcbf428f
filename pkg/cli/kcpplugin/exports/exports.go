// Package exports is the command "kubectl kcp exports": which APIs there are to bind.
package exports

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/forkless/kcp/pkg/cli/output"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/table"
	"github.com/forkless/kcp/pkg/cli/ws/target"
)

// formatName prints what "bind apiexport" takes as its argument, not the kind and name
// of an object: an export alone does not say where it is.
const formatName = "name"

// Options are what the command is called with.
type Options struct {
	// Path names the workspace to look in, "" for the current one.
	Path string
	// Search is a word that has to be in the name of the export or of a resource.
	Search string
	// Recursive looks into the workspaces below, too.
	Recursive bool
	// Workspace names the workspace that BOUND-HERE is about, "" for the current one.
	Workspace string

	finder *target.Finder
	output *output.Flags
}

// AddFlags adds the flags of the command to flags.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.Search, "search", o.Search, "Only exports with this word in their name or in that of a resource")
	flags.BoolVarP(&o.Recursive, "recursive", "R", o.Recursive, "Look into the workspaces below, too")
	flags.StringVarP(&o.Workspace, "workspace", "w", o.Workspace, "Workspace that BOUND-HERE is about, instead of the current one")
	o.output.AddFlags(flags)
}

// Run prints the exports.
func (o *Options) Run(ctx context.Context) error {
	origin, err := o.finder.Origin()
	if err != nil {
		return err
	}
	start, err := origin.Workspace(ctx, o.Path)
	if err != nil {
		return err
	}
	here, err := origin.Workspace(ctx, o.Workspace)
	if err != nil {
		return err
	}
	c, err := origin.Client()
	if err != nil {
		return err
	}
	s := &searcher{client: c, word: strings.ToLower(o.Search), recursive: o.Recursive}
	found, err := s.search(ctx, start)
	if err != nil {
		return err
	}
	for _, skipped := range s.skipped {
		_, _ = fmt.Fprintf(o.finder.Streams.ErrOut, "note: %s could not be looked into: %s\n", skipped.path, run.Message(skipped.err))
	}
	if len(found) == 0 && !o.output.Document() {
		_, _ = fmt.Fprintf(o.finder.Streams.ErrOut, "No exports that you may bind in %s.\n", start)
		return nil
	}
	switch {
	case o.output.Format == formatName:
		return printNames(o.finder.Streams.Out, found)
	case o.output.Document():
		var items []unstructured.Unstructured
		for _, f := range found {
			items = append(items, f.export.Sent)
		}
		return o.output.Print(o.finder.Streams.Out, output.List(items))
	default:
		return o.printRows(o.finder.Streams.Out, found, boundIn(ctx, c, here))
	}
}

func printNames(w io.Writer, found []found) error {
	for _, f := range found {
		if _, err := fmt.Fprintf(w, "%s:%s\n", f.path, f.export.Name); err != nil {
			return err
		}
	}
	return nil
}

func (o *Options) printRows(w io.Writer, found []found, bound bindings) error {
	rows := table.New(o.finder.Display.For(w),
		table.Column{Title: "EXPORT", Shrink: table.Cut},
		table.Column{Title: "WORKSPACE", Shrink: table.Cut},
		table.Column{Title: "RESOURCES", Shrink: table.Cut},
		table.Column{Title: "CLAIMS", Shrink: table.Cut},
		table.Column{Title: "BOUND-HERE"},
	)
	rows.NoHeaders = o.output.NoHeaders
	for _, f := range found {
		rows.Row(f.export.Name, f.path.String(), resources(f.export), claims(f.export), bound.to(f))
	}
	return rows.Print(w)
}

// New returns the command.
func New(finder *target.Finder) *cobra.Command {
	o := &Options{finder: finder, output: output.New(false)}
	cmd := &cobra.Command{
		Use:   "exports [PATH]",
		Short: "List the APIExports that you may bind",
		Long: `List the APIExports in the current workspace, or in the one at PATH, that you may bind.
BOUND-HERE names the binding that the current workspace, or the one that --workspace
names, has for the export.

With -o name it prints what "kubectl kcp bind apiexport" takes as its argument.

Exit codes: 0 done, also if there are none, 1 any error.`,
		Example: `  kubectl kcp exports :root
  kubectl kcp exports -R :root:platform --search cert
  kubectl kcp exports :root:platform -o name`,
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
