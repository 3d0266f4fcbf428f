// Package binding is the command "kubectl kcp debug binding": why an APIBinding is not
// bound, or does not give what it should.
package binding

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/diagnosis"
	"github.com/forkless/kcp/pkg/cli/diagnosis/binding"
	"github.com/forkless/kcp/pkg/cli/output"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/ws/target"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Options are what the command is called with.
type Options struct {
	// Name of the binding, or <path>:<export> for one that is not there yet.
	Name string
	// Workspace names the workspace it is in, "" for the current one.
	Workspace string
	// Watch looks again until nothing blocks.
	Watch bool

	output *output.Flags
	finder *target.Finder
}

// NewOptions returns the options of a command that is called without any.
func NewOptions(finder *target.Finder) *Options {
	return &Options{finder: finder, output: output.New(false)}
}

// AddFlags adds the flags of the command to flags.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.StringVarP(&o.Workspace, "workspace", "w", o.Workspace, "Workspace of the binding, instead of the current one")
	flags.BoolVar(&o.Watch, "watch", o.Watch, "Look again, and say what has changed, until nothing blocks")
	o.output.AddFlags(flags)
}

// Run answers the question.
func (o *Options) Run(ctx context.Context) error {
	if err := o.output.Validate(); err != nil {
		return err
	}
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
	g := binding.Gatherer{Client: c, Commands: diagnosis.Commands{Here: origin.Path, URL: c.URL}}
	changes := c.Changes()
	return diagnosis.Question{
		Streams: o.finder.Streams, Display: o.finder.Display, Output: o.output, Watch: o.Watch, Changes: changes,
		Ask: func(ctx context.Context) (*diagnosis.Diagnosis, error) {
			f, err := g.Gather(ctx, consumer, o.Name)
			switch {
			case apierrors.IsNotFound(err):
				return nil, missing(ctx, c, consumer, o.Name)
			case err != nil:
				return nil, err
			case o.Watch:
				changes.Of(ctx, binding.Watched(f)...)
			}
			return binding.Judge(f), nil
		},
	}.Answer(ctx)
}

// missing says that there is no such binding, and what may have been meant.
func missing(ctx context.Context, c *client.Client, consumer logicalcluster.Path, name string) error {
	err := fmt.Errorf("apibinding %q not found in %s", name, consumer)
	var meant []string
	hint := "kubectl kcp debug binding <path>:<export> looks at what is not bound yet"
	if apis, apisErr := c.APIs(ctx, consumer); apisErr == nil {
		meant = apis.NearBindings(ctx, name)
	}
	if len(meant) > 0 {
		return run.Hint(err, "did you mean "+strings.Join(meant, ", ")+"?", hint)
	}
	return run.Hint(err, hint)
}

// New returns the command.
func New(finder *target.Finder) *cobra.Command {
	o := NewOptions(finder)
	cmd := &cobra.Command{
		Use:   "binding {BINDING | PATH:EXPORT}",
		Short: "Find out why an API is not bound, or does not work",
		Long: `Find out why an APIBinding of the current workspace, or of the one that --workspace
names, is not bound or does not give what it should. PATH:EXPORT, as in
root:platform:certs, is about an export that is not bound yet.

It looks at the permission to bind, the export and its identity, at what else has the
resources or their names, at permission claims and, while a binding is deleted, at what
holds its objects. What you may not read in the provider's workspace is unknown.

Exit codes: 0 nothing blocks it, 3 something does, 1 any error.`,
		Example: `  kubectl kcp debug binding certs
  kubectl kcp debug binding root:platform:certs -w :root:team
  kubectl kcp debug binding certs -o jsonpath='{.blockers[*].message}'`,
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
