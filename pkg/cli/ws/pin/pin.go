// Package pin is the command "kubectl ws pin": names for workspaces that one goes to
// often. They are kept in the kubeconfig, and "@name" is understood wherever a workspace
// can be named.
package pin

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/forkless/kcp/pkg/cli/kubeconfig"
	"github.com/forkless/kcp/pkg/cli/near"
	"github.com/forkless/kcp/pkg/cli/output"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/table"
	"github.com/forkless/kcp/pkg/cli/ws/listing"
	"github.com/forkless/kcp/pkg/cli/ws/path"
	"github.com/forkless/kcp/pkg/cli/ws/target"
)

// Options are what the command is called with.
type Options struct {
	// Name of the pin, "" to show them all.
	Name string
	// Path names the workspace to pin, "" for the current one.
	Path string
	// Delete takes the name away.
	Delete bool
	// Output is the format of the list.
	Output *output.Flags

	finder *target.Finder
}

// AddFlags adds the flags of the command to flags.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.BoolVar(&o.Delete, "delete", o.Delete, "Delete the pin")
	o.Output.AddFlags(flags)
}

// Complete reads the arguments.
func (o *Options) Complete(args []string) error {
	if len(args) > 0 {
		o.Name = strings.TrimPrefix(args[0], "@")
		if err := path.CheckPin(o.Name); err != nil {
			return fmt.Errorf("pin %q: %w", args[0], err)
		}
	}
	if len(args) > 1 {
		o.Path = args[1]
	}
	switch {
	case o.Delete && o.Name == "":
		return run.Hint(fmt.Errorf("--delete needs the name of a pin"), "kubectl ws pin shows them")
	case o.Delete && o.Path != "":
		return fmt.Errorf("--delete needs the name of a pin alone, not %s as well", o.Path)
	}
	return o.Output.Validate()
}

// Run shows the pins, or makes or deletes one.
func (o *Options) Run(ctx context.Context) error {
	origin, err := o.finder.Origin()
	if err != nil {
		return err
	}
	switch {
	case o.Name == "":
		return o.show(origin)
	case o.Delete:
		return o.delete(ctx, origin.Pins())
	default:
		return o.set(ctx, origin)
	}
}

func (o *Options) set(ctx context.Context, origin *target.Origin) error {
	p, err := origin.Workspace(ctx, o.Path)
	if err != nil {
		return err
	}
	err = o.finder.Flags.Store().Edit(ctx, func(config *api.Config) error {
		kubeconfig.SetPin(config, o.Name, origin.Base, p)
		return nil
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(o.finder.Streams.Out, "Pinned %s as @%s.\n", p, o.Name)
	return err
}

func (o *Options) delete(ctx context.Context, pins []kubeconfig.Pin) error {
	found := false
	err := o.finder.Flags.Store().Edit(ctx, func(config *api.Config) error {
		found = kubeconfig.DeletePin(config, o.Name)
		return nil
	})
	if err != nil {
		return err
	}
	if !found {
		return run.Hint(fmt.Errorf("there is no pin %q in the kubeconfig", o.Name), suggestions(o.Name, pins)...)
	}
	_, err = fmt.Fprintf(o.finder.Streams.Out, "Deleted the pin @%s.\n", o.Name)
	return err
}

func suggestions(name string, pins []kubeconfig.Pin) []string {
	var names []string
	for _, pin := range pins {
		names = append(names, pin.Name)
	}
	if names = near.Names(name, names); len(names) == 0 {
		return nil
	}
	return []string{"did you mean " + strings.Join(names, ", ") + "?"}
}

func (o *Options) show(origin *target.Origin) error {
	var items []listing.Item
	for _, pin := range origin.Pins() {
		item := listing.At(pin.Path)
		item.Pin = pin.Name
		if !path.SameServer(pin.Base, origin.Base) {
			item.Server = pin.Base
		}
		items = append(items, item)
	}
	streams := o.finder.Streams
	if o.Output.Document() {
		return listing.Print(streams.Out, o.Output, items)
	}
	if len(items) == 0 {
		_, err := fmt.Fprintln(streams.ErrOut, `No workspaces are pinned. "kubectl ws pin NAME" pins the current one.`)
		return err
	}
	t := table.New(o.finder.Display.For(streams.Out), table.Column{Title: "PIN"}, table.Column{Title: "WORKSPACE", Shrink: table.Cut}, table.Column{Title: "SERVER", Shrink: table.Drop})
	t.NoHeaders = o.Output.NoHeaders
	for _, item := range items {
		t.Row("@"+item.Pin, item.Path, item.Server)
	}
	return t.Print(streams.Out)
}

// New returns the command.
func New(finder *target.Finder) *cobra.Command {
	o := &Options{Output: output.New(false, output.Path), finder: finder}
	cmd := &cobra.Command{
		Use:   "pin [NAME [PATH]]",
		Short: "Give a workspace a short name, or show the names there are",
		Long: `Give the current workspace, or the one at PATH, a name of your own: "@name" stands for
it wherever a workspace can be named. A pin of that name is moved. Without NAME it
shows the pins. They are kept in the kubeconfig.

Exit codes: 0 done, 1 any error.`,
		Example: `  kubectl ws pin prod :root:acme:payments
  kubectl ws @prod
  kubectl ws pin --delete prod`,
		Args:              run.Args(cobra.MaximumNArgs(2)),
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
