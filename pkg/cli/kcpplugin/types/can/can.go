// Package can is the command "kubectl kcp type can": whether a workspace of a type may be
// created in a workspace, and which rule decides that. The rules are the server's own;
// where the caller may not see enough to apply them, the server is asked whether it would
// do it.
package can

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/output"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/typeref"
	"github.com/forkless/kcp/pkg/cli/ws/target"
	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/tenancy"
)

// Options are what the command is called with.
type Options struct {
	// Type is [PATH:]NAME.
	Type string
	// Under names the workspace to create one in, "" for the current one.
	Under string
	// Workspace is another way to name it.
	Workspace string

	finder *target.Finder
	output *output.Flags
	now    func() time.Time
}

// AddFlags adds the flags of the command to flags.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.Under, "under", o.Under, "Workspace that the new one would be in, instead of the current one")
	flags.StringVarP(&o.Workspace, "workspace", "w", o.Workspace, "The same as --under")
	o.output.AddFlags(flags)
}

// Validate finds what contradicts itself.
func (o *Options) Validate() error {
	if o.Under != "" && o.Workspace != "" {
		return errors.New("--under and --workspace name the same thing, so one is enough")
	}
	return o.output.Validate()
}

// Run answers the question.
func (o *Options) Run(ctx context.Context) error {
	ref, err := typeref.Parse(o.Type)
	if err != nil {
		return err
	}
	origin, err := o.finder.Origin()
	if err != nil {
		return err
	}
	under, err := origin.Workspace(ctx, o.Under+o.Workspace)
	if err != nil {
		return err
	}
	c, err := origin.Client()
	if err != nil {
		return err
	}
	asked, err := gather(ctx, c, under, ref)
	switch {
	case apierrors.IsForbidden(err):
		return o.askServer(ctx, c, under, ref, err)
	case err != nil:
		return err
	}
	return o.show(asked.verdict())
}

// gather finds out what the question is about.
func gather(ctx context.Context, c *client.Client, under logicalcluster.Path, ref tenancyv1alpha1.WorkspaceTypeReference) (*question, error) {
	source := typeref.NewSource(c)
	parent, err := source.Of(ctx, under)
	if err != nil {
		return nil, err
	}
	place, err := source.Place(ctx, under)
	if err != nil {
		return nil, err
	}
	child, err := source.Resolver().Resolve(ctx, place, ref)
	if err != nil {
		return nil, source.Explain(err, ref)
	}
	q := &question{under: place.Path.String(), parent: parent, child: child}
	if q.mayCreate, err = c.MayCreateWorkspaces(ctx, under); err != nil {
		return nil, err
	}
	q.lacking, err = lacking(ctx, c, child)
	return q, err
}

// lacking returns the types that the caller may not use, of all that a workspace of the
// type would be.
func lacking(ctx context.Context, c *client.Client, set *tenancy.Set) ([]tenancy.Type, error) {
	var types []tenancy.Type
	for _, alias := range set.Aliases {
		may, err := c.MayUseType(ctx, alias.Path, alias.Object.Name)
		if err != nil {
			return nil, fmt.Errorf("whether you may use %s cannot be read: %w", alias, err)
		}
		if !may {
			types = append(types, alias)
		}
	}
	return types, nil
}

// askServer lets the server decide, without storing anything. hidden is what kept us from
// deciding.
func (o *Options) askServer(ctx context.Context, c *client.Client, under logicalcluster.Path, ref tenancyv1alpha1.WorkspaceTypeReference, hidden error) error {
	err := c.TryWorkspace(ctx, under, ref)
	switch {
	case err == nil:
		return o.show(verdict{subject: typeref.Format(ref), under: under.String(), yes: fmt.Sprintf("the server would create a workspace of type %s in %s", typeref.Format(ref), under)})
	case apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err):
		return o.show(verdict{subject: typeref.Format(ref), under: under.String(), reasons: []reason{{rule: ruleServer, message: run.Message(err)}}})
	default:
		return errors.Join(hidden, err)
	}
}

// show prints the answer and returns it as an exit code.
func (o *Options) show(v verdict) error {
	out := o.finder.Streams.Out
	var err error
	if o.output.Document() {
		err = o.output.PrintView(out, v.diagnosis(o.now()))
	} else {
		err = v.print(out, o.finder.Display.For(out))
	}
	if err == nil && len(v.reasons) > 0 {
		return run.ErrNo
	}
	return err
}

// New returns the command.
func New(finder *target.Finder) *cobra.Command {
	o := &Options{finder: finder, output: output.New(false), now: time.Now}
	cmd := &cobra.Command{
		Use:   "can TYPE",
		Short: "Tell whether workspaces of a type may be created somewhere",
		Long: `Tell whether you may create a workspace of a TYPE, [PATH:]NAME, in the current workspace, or in the
one that --under names, and which rules decide that: what the types demand of each
other, and what you may do. Nothing is created.

Exit codes: 0 yes, 3 no, 1 any error.`,
		Example: `  kubectl kcp type can team
  kubectl kcp type can root:acme:team --under :root:lab`,
		Args:              run.Args(cobra.ExactArgs(1)),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Type = args[0]
			if err := o.Validate(); err != nil {
				return run.Misuse(cmd, err)
			}
			return o.Run(cmd.Context())
		},
	}
	o.AddFlags(cmd.Flags())
	return cmd
}
