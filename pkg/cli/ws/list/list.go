// Package list is the command "kubectl ws ls": the workspaces in one, or all that are
// below it.
package list

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/output"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/table"
	"github.com/forkless/kcp/pkg/cli/ws/listing"
	"github.com/forkless/kcp/pkg/cli/ws/target"
	"github.com/forkless/kcp/pkg/cli/ws/walk"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Options are what the command is called with.
type Options struct {
	// Path names the workspace to list, "" for the current one.
	Path string
	// Recursive lists what is below the workspaces, too.
	Recursive bool
	// Wide shows more columns.
	Wide bool
	// Selector, Type and Phase say which workspaces are wanted.
	Selector, Type, Phase string
	// Output is the format of the list.
	Output *output.Flags

	finder *target.Finder
	wanted selection
}

// AddFlags adds the flags of the command to flags.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.BoolVarP(&o.Recursive, "recursive", "R", o.Recursive, "List what is below the workspaces, too")
	flags.BoolVar(&o.Wide, "wide", o.Wide, "Show the logical cluster, the shard and the address of each workspace, as -o wide does")
	flags.StringVarP(&o.Selector, "selector", "l", o.Selector, "Only workspaces whose labels match")
	flags.StringVar(&o.Type, "type", o.Type, "Only workspaces of this type, [PATH:]NAME")
	flags.StringVar(&o.Phase, "phase", o.Phase, "Only workspaces in this phase")
	flags.StringVarP(&o.Path, "workspace", "w", o.Path, "Workspace to list, the same as PATH")
	o.Output.AddFlags(flags)
}

// Complete reads the arguments and the flags.
func (o *Options) Complete(args []string) error {
	if len(args) > 0 {
		if o.Path != "" {
			return fmt.Errorf("--workspace %s and %s are two workspaces, and one is listed", o.Path, args[0])
		}
		o.Path = args[0]
	}
	o.Wide = o.Wide || o.Output.Format == output.Wide
	if err := o.Output.Validate(); err != nil {
		return err
	}
	var err error
	o.wanted, err = selectionOf(o.Selector, o.Type, o.Phase)
	return err
}

// Run lists the workspaces.
func (o *Options) Run(ctx context.Context) error {
	origin, err := o.finder.Origin()
	if err != nil {
		return err
	}
	start, err := origin.Workspace(ctx, o.Path)
	if err != nil {
		return err
	}
	c, err := origin.Client()
	if err != nil {
		return err
	}
	items, err := o.find(ctx, c, start)
	if err != nil {
		return err
	}
	streams := o.finder.Streams
	switch {
	case o.Output.Document():
		return listing.Print(streams.Out, o.Output, items)
	case len(items) == 0:
		sentence := "No workspaces in %s.\n"
		if !o.wanted.everything() {
			sentence = "No such workspaces in %s.\n"
		}
		_, err := fmt.Fprintf(streams.ErrOut, sentence, start)
		return err
	default:
		return o.table(start, items).Print(streams.Out)
	}
}

// find returns the workspaces that are wanted.
func (o *Options) find(ctx context.Context, c *client.Client, start logicalcluster.Path) ([]listing.Item, error) {
	var items []listing.Item
	if !o.Recursive {
		children, err := c.Workspaces(ctx, start)
		if err != nil {
			return nil, c.Explain(ctx, start, err)
		}
		for i := range children {
			items = o.keep(items, listing.Of(start, &children[i]))
		}
		return items, nil
	}
	top, err := walk.Walk(ctx, c, start, walk.Options{Deleting: true})
	if err != nil {
		return nil, err
	}
	for _, n := range top.All()[1:] {
		item := listing.Of(n.Parent.Path, n.Workspace)
		switch {
		case n.Forbidden:
			item.Error = "no access"
		case n.Err != nil:
			item.Error = run.Message(n.Err)
		}
		items = o.keep(items, item)
	}
	return items, nil
}

func (o *Options) keep(items []listing.Item, item listing.Item) []listing.Item {
	if o.wanted.wants(item) {
		items = append(items, item)
	}
	return items
}

func (o *Options) table(start logicalcluster.Path, items []listing.Item) *table.Table {
	columns := []table.Column{{Title: "NAME", Shrink: table.Cut}, {Title: "TYPE", Shrink: table.Unqualify}, {Title: "PHASE"}, {Title: "AGE", Shrink: table.Drop}}
	if o.Wide {
		columns = append(columns, table.Column{Title: "CLUSTER", Shrink: table.Drop}, table.Column{Title: "SHARD", Shrink: table.Drop}, table.Column{Title: "URL", Shrink: table.Drop})
	}
	t := table.New(o.finder.Display.For(o.finder.Streams.Out), columns...)
	t.NoHeaders = o.Output.NoHeaders
	for _, item := range items {
		phase := cmp.Or(string(item.Phase), "-")
		if item.Error != "" {
			phase += " (" + item.Error + ")"
		}
		name, kind := strings.TrimPrefix(item.Path, start.String()+":"), item.Type
		if item.Mount != "" {
			name, kind = name+" [m]", item.Mount
		}
		t.Row(name, cmp.Or(kind, "-"), phase, age(item), item.Cluster, item.Shard, item.URL)
	}
	return t
}

func age(item listing.Item) string {
	if item.Created == nil {
		return "-"
	}
	return duration.HumanDuration(time.Since(item.Created.Time))
}

// New returns the command.
func New(finder *target.Finder) *cobra.Command {
	o := &Options{Output: output.New(true, output.Path), finder: finder}
	cmd := &cobra.Command{
		Use:   "ls [PATH]",
		Short: "List the workspaces in one",
		Long: `List the workspaces in the current one, or in the one at PATH. With -R those below them
are listed as well, by the path that leads there; what may not be looked into is marked
with (no access).

Exit codes: 0 done, also if there are none, 1 any error.`,
		Example: `  kubectl ws ls
  kubectl ws ls :root:acme --wide
  kubectl ws ls -R --phase Initializing
  kubectl ws ls --type team -o path`,
		Args:              run.Args(cobra.MaximumNArgs(1)),
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
