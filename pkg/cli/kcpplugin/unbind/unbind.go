// Package unbind is the command "kubectl kcp unbind": deleting an APIBinding, which
// deletes all objects of its APIs in the workspace. So it shows what will go and asks,
// and while something holds the deletion up it says what.
package unbind

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/forkless/kcp/pkg/cli/ask"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/confirm"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/ws/target"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// patience is how long the deletion of objects may take.
const patience = 5 * time.Minute

// Options are what the command is called with.
type Options struct {
	// Name of the binding.
	Name string
	// Workspace names the workspace it is in, "" for the current one.
	Workspace string
	// Wait says whether to wait until the binding is gone.
	Wait bool
	// Timeout is how long to wait.
	Timeout time.Duration

	finder  *target.Finder
	confirm confirm.Flags
}

// NewOptions returns the options of a command that is called without any.
func NewOptions(finder *target.Finder) *Options {
	return &Options{finder: finder, Wait: true, Timeout: patience}
}

// AddFlags adds the flags of the command to flags.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.StringVarP(&o.Workspace, "workspace", "w", o.Workspace, "Workspace of the binding, instead of the current one")
	flags.BoolVar(&o.Wait, "wait", o.Wait, "Wait until the binding and its objects are gone")
	flags.DurationVar(&o.Timeout, "timeout", o.Timeout, "How long to wait")
	o.confirm.AddFlags(flags)
}

// Run deletes the binding.
func (o *Options) Run(ctx context.Context) error {
	origin, err := o.finder.Origin()
	if err != nil {
		return err
	}
	consumer, err := origin.Workspace(ctx, o.Workspace)
	if err != nil {
		return err
	}
	c, err := origin.Client()
	if err != nil {
		return err
	}
	apis, err := c.APIs(ctx, consumer)
	if err != nil {
		return err
	}
	binding, err := apis.NamedBinding(ctx, o.Name)
	if err != nil {
		return err
	}
	if err := o.ask(ctx, c, consumer, binding); err != nil {
		return err
	}
	if err := o.delete(ctx, apis, binding); err != nil {
		return err
	}
	_, err = fmt.Fprintf(o.finder.Streams.Out, "apibinding.apis.kcp.io %q deleted\n", o.Name)
	return err
}

// ask shows what will go and asks for the name. Who has answered beforehand, or cannot be
// asked, does not have to wait for the counting.
func (o *Options) ask(ctx context.Context, c *client.Client, consumer logicalcluster.Path, binding *client.Binding) error {
	shown := ""
	if _, somebody := ask.Someone(o.finder.Streams); somebody && !o.confirm.Given() {
		shown = preview(o.finder.Display.For(o.finder.Streams.ErrOut), consumer, binding, count(ctx, c, consumer, binding))
	}
	return o.confirm.Confirm(ctx, o.finder.Streams, o.Name, binding.Annotations[confirm.ProtectedAnnotation], shown)
}

func (o *Options) delete(ctx context.Context, apis *client.APIs, binding *client.Binding) error {
	// Somebody may have been faster.
	if err := apis.DeleteBinding(ctx, binding); err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	if !o.Wait {
		return nil
	}
	return o.wait(ctx, apis, binding)
}

// New returns the command.
func New(finder *target.Finder) *cobra.Command {
	o := NewOptions(finder)
	cmd := &cobra.Command{
		Use:   "unbind BINDING",
		Short: "Delete an APIBinding and all objects of its APIs",
		Long: `Delete an APIBinding of the current workspace, or of the one that --workspace names.
Its APIs go away there, and all objects of these APIs are deleted.

At a terminal the command shows how many objects that are and asks for the name of the
binding; "?" stands for what may not be counted. Otherwise --yes is needed. It waits
until everything is gone, and says what holds that up.

Exit codes: 0 deleted, 1 any error, 130 interrupted while waiting; the deletion goes on.`,
		Example: `  kubectl kcp unbind certs
  kubectl kcp unbind certs -w :root:team --yes`,
		Args:              run.Args(cobra.ExactArgs(1)),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Name = args[0]
			return o.Run(cmd.Context())
		},
	}
	o.AddFlags(cmd.Flags())
	return cmd
}
