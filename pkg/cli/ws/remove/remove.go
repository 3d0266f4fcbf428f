// Package remove is the command "kubectl ws delete": deleting workspaces, with all that is
// in them and below them. So it shows what will go and asks, and while something holds
// the deletion up it says what.
package remove

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/confirm"
	"github.com/forkless/kcp/pkg/cli/output"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/ws/listing"
	"github.com/forkless/kcp/pkg/cli/ws/target"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// patience is how long a deletion may take.
const patience = 5 * time.Minute

// Options are what the command is called with.
type Options struct {
	// Paths name the workspaces.
	Paths []string
	// Confirm is what has been answered beforehand.
	Confirm confirm.Flags
	// Wait says whether to wait until the workspaces are gone.
	Wait bool
	// Timeout is how long to wait.
	Timeout time.Duration
	// DryRun shows what would go, and deletes nothing.
	DryRun bool
	// Output is the format in which the workspaces are printed afterwards.
	Output *output.Flags

	finder *target.Finder
}

// NewOptions returns the options of a command that is called without any.
func NewOptions(finder *target.Finder) *Options {
	return &Options{Wait: true, Timeout: patience, Output: output.New(false, output.Path), finder: finder}
}

// AddFlags adds the flags of the command to flags.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	o.Confirm.AddFlags(flags)
	flags.BoolVar(&o.Wait, "wait", o.Wait, "Wait until the workspaces are gone")
	flags.DurationVar(&o.Timeout, "timeout", o.Timeout, "How long to wait")
	flags.BoolVar(&o.DryRun, "dry-run", o.DryRun, "Show what would go, and delete nothing")
	o.Output.AddFlags(flags)
}

// victim is a workspace that goes.
type victim struct {
	path, parent logicalcluster.Path
	workspace    *tenancyv1alpha1.Workspace
	inventory    *inventory
}

// name is how the workspace is called in the output.
func (v *victim) name() string { return fmt.Sprintf("workspace.tenancy.kcp.io %q", v.path) }

// Run deletes the workspaces.
func (o *Options) Run(ctx context.Context) error {
	if err := o.Output.Validate(); err != nil {
		return err
	}
	origin, err := o.finder.Origin()
	if err != nil {
		return err
	}
	c, err := origin.Client()
	if err != nil {
		return err
	}
	if !o.DryRun {
		if err := c.CheckWritable(); err != nil {
			return err
		}
	}
	victims, err := o.find(ctx, origin, c)
	if err != nil {
		return err
	}
	if o.DryRun {
		return o.pretend(ctx, c, victims)
	}
	// All questions come before the first deletion: who says no to the second workspace
	// may have meant neither.
	for _, v := range victims {
		if err := o.confirm(ctx, c, v); err != nil {
			return err
		}
	}
	if err := o.delete(ctx, c, victims); err != nil || !o.Output.Document() {
		return err
	}
	return o.document(victims)
}

// find finds the workspaces.
func (o *Options) find(ctx context.Context, origin *target.Origin, c *client.Client) ([]*victim, error) {
	var victims []*victim
	known := map[logicalcluster.Path]bool{}
	for _, arg := range o.Paths {
		p, err := origin.Workspace(ctx, arg)
		if err != nil {
			return nil, err
		}
		if known[p] {
			continue
		}
		known[p] = true
		parent, ok := p.Parent()
		if !ok {
			return nil, fmt.Errorf("workspace \"%s\" cannot be deleted: no workspace is known that it is in", p)
		}
		ws, err := c.Workspace(ctx, parent, p.Base())
		if apierrors.IsNotFound(err) {
			return nil, c.Missing(ctx, p)
		}
		if err != nil {
			return nil, err
		}
		victims = append(victims, &victim{path: p, parent: parent, workspace: ws, inventory: start(p, ws)})
	}
	return victims, nil
}

// confirm shows what goes, and asks.
func (o *Options) confirm(ctx context.Context, c *client.Client, v *victim) error {
	shown := ""
	if !o.Confirm.Given() && o.someoneIsThere() {
		if err := v.inventory.fill(ctx, c); err != nil {
			return err
		}
		shown = preview(o.finder.Display.For(o.finder.Streams.ErrOut), v.inventory, time.Now())
	}
	return o.Confirm.Confirm(ctx, o.finder.Streams, v.path.Base(), v.workspace.Annotations[confirm.ProtectedAnnotation], shown)
}

// pretend shows what would go, after asking the server whether it may.
func (o *Options) pretend(ctx context.Context, c *client.Client, victims []*victim) error {
	out := o.finder.Streams.Out
	for _, v := range victims {
		if err := c.DeleteThisWorkspace(ctx, v.parent, v.workspace, true); err != nil {
			return err
		}
		if o.Output.Document() {
			continue
		}
		if err := v.inventory.fill(ctx, c); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(out, "%s%s deleted (dry run)\n", preview(o.finder.Display.For(out), v.inventory, time.Now()), v.name()); err != nil {
			return err
		}
	}
	if o.Output.Document() {
		return o.document(victims)
	}
	return nil
}

func (o *Options) document(victims []*victim) error {
	items := make([]listing.Item, 0, len(victims))
	for _, v := range victims {
		items = append(items, listing.Of(v.parent, v.workspace))
	}
	return listing.Print(o.finder.Streams.Out, o.Output, items)
}

// New returns the command.
func New(finder *target.Finder) *cobra.Command {
	o := NewOptions(finder)
	cmd := &cobra.Command{
		Use:   "delete PATH...",
		Short: "Delete workspaces and all that is in them",
		Long: `Delete the workspaces at PATH, with all that is in them and below them.

At a terminal the command shows what that is and asks for the name of the workspace; "?"
stands for what may not be counted. Otherwise --yes is needed, and for what is annotated
` + confirm.ProtectedAnnotation + ` --yes=NAME. It waits until everything is gone, and
says what holds that up. If you are in a workspace that goes, you are taken to the one
above it.

Exit codes: 0 deleted, 1 any error, 4 the timeout ran out, 130 interrupted while waiting;
in both cases the deletion goes on.`,
		Example: `  kubectl ws delete payments
  kubectl ws delete :root:acme:eu :root:acme:us --yes
  kubectl ws delete payments --dry-run`,
		Args:              run.Args(cobra.MinimumNArgs(1)),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Paths = args
			return o.Run(cmd.Context())
		},
	}
	o.AddFlags(cmd.Flags())
	return cmd
}
