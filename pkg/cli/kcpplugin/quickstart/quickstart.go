// Package quickstart is the command "kubectl kcp quickstart": something to look at on a
// new server. It makes either a provider and a consumer of an API, or many workspaces,
// and removes them again. What exists already is kept, so that it can be called again
// after an error.
package quickstart

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/ws/switching"
	"github.com/forkless/kcp/pkg/cli/ws/target"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// The scenarios.
const (
	scenarioProvider   = "api-provider"
	scenarioWorkspaces = "workspaces"
)

// Options are what the command is called with.
type Options struct {
	// Scenario is what to make.
	Scenario string
	// NamePrefix begins the names of the workspaces.
	NamePrefix string
	// Cleanup removes what was made.
	Cleanup bool
	// Enter goes to the consumer, or to the organization with many workspaces.
	Enter bool
	// WithSamples makes an object of the API, too.
	WithSamples bool
	// Timeout is how long everything may take.
	Timeout time.Duration
	// TreeDepth, TreeCount and TreeSeed shape the tree of many workspaces; a seed of 0
	// is that of the clock.
	TreeDepth, TreeCount int
	TreeSeed             int64

	finder *target.Finder
}

// NewOptions returns the options of a command that is called without any.
func NewOptions(finder *target.Finder) *Options {
	return &Options{finder: finder, Scenario: scenarioProvider, NamePrefix: "quickstart", Timeout: 10 * time.Minute, TreeDepth: 3, TreeCount: 50}
}

// AddFlags adds the flags of the command to flags.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.Scenario, "scenario", o.Scenario, "What to make: api-provider, workspaces")
	flags.StringVar(&o.NamePrefix, "name-prefix", o.NamePrefix, "Begin of the names of the workspaces")
	flags.BoolVar(&o.Cleanup, "cleanup", o.Cleanup, "Remove what was made")
	flags.BoolVar(&o.Enter, "enter", o.Enter, "Go there afterwards")
	flags.BoolVar(&o.WithSamples, "with-samples", o.WithSamples, "Make an object of the API, too")
	flags.DurationVar(&o.Timeout, "timeout", o.Timeout, "How long everything may take")
	flags.IntVar(&o.TreeDepth, "tree-depth", o.TreeDepth, "Levels of workspaces below the organization")
	flags.IntVar(&o.TreeCount, "tree-count", o.TreeCount, "Number of workspaces")
	flags.Int64Var(&o.TreeSeed, "tree-seed", o.TreeSeed, "Number that the tree depends on, 0 for another one each time")
}

// Validate finds what makes no sense.
func (o *Options) Validate() error {
	switch {
	case o.Scenario != scenarioProvider && o.Scenario != scenarioWorkspaces:
		return fmt.Errorf("unknown scenario %q, known are %s, %s", o.Scenario, scenarioProvider, scenarioWorkspaces)
	case o.TreeDepth < 1 || o.TreeCount < 1:
		return errors.New("--tree-depth and --tree-count have to be at least 1")
	case o.NamePrefix == "":
		return errors.New("--name-prefix must not be empty")
	default:
		_, err := logicalcluster.ParsePath("root:" + o.NamePrefix + orgSuffix)
		return err
	}
}

// Run makes the scenario, or removes it.
func (o *Options) Run(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	err := o.run(limited)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return fmt.Errorf("not done after %s: %w", o.Timeout, err)
	}
	var transport *url.Error
	if errors.As(err, &transport) {
		return run.Hint(err, "kcp start starts a server", "export KUBECONFIG=$PWD/.kcp/admin.kubeconfig lets kubectl find it")
	}
	return err
}

func (o *Options) run(ctx context.Context) error {
	origin, err := o.finder.Origin()
	if err != nil {
		return err
	}
	c, err := origin.Client()
	if err != nil {
		return err
	}
	b := &builder{client: c, out: o.finder.Streams.Out, prefix: o.NamePrefix}
	if o.Cleanup {
		return o.cleanUp(ctx, origin, c, b)
	}
	b.say("Setting up quickstart scenario %q with prefix %q", o.Scenario, o.NamePrefix)
	var enter logicalcluster.Path
	kind := universal
	if o.Scenario == scenarioProvider {
		enter, err = o.apiProvider(ctx, b)
	} else {
		enter, err = o.workspaces(ctx, b)
		kind = organization
	}
	if err != nil || !o.Enter {
		return err
	}
	return switching.Switcher{Finder: o.finder}.To(ctx, origin, enter, switching.FormatType(tenancyv1alpha1.WorkspaceTypeReference{Path: "root", Name: kind}))
}

// cleanUp removes the organization with everything in it.
func (o *Options) cleanUp(ctx context.Context, origin *target.Origin, c *client.Client, b *builder) error {
	if err := b.removeOrganization(ctx); err != nil {
		return err
	}
	return switching.Switcher{Finder: o.finder}.To(ctx, origin, logicalcluster.Root.Path(), logicalcluster.Root.Path().String())
}

// New returns the command.
func New(finder *target.Finder) *cobra.Command {
	o := NewOptions(finder)
	cmd := &cobra.Command{
		Use:   "quickstart",
		Short: "Make something to look at on a new server",
		Long: `Make workspaces to try things in, below root:

  api-provider   an organization with a provider that offers an API, and a consumer
                 that has bound it
  workspaces     an organization with a tree of many workspaces

What exists already is kept. --cleanup removes the organization with everything in it.

Exit codes: 0 done, 1 any error, 130 interrupted.`,
		Example: `  kubectl kcp quickstart --with-samples --enter
  kubectl kcp quickstart --scenario workspaces --tree-count 200
  kubectl kcp quickstart --cleanup`,
		Args:              run.Args(cobra.ExactArgs(0)),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.Validate(); err != nil {
				return run.Misuse(cmd, err)
			}
			return o.Run(cmd.Context())
		},
	}
	o.AddFlags(cmd.Flags())
	return cmd
}
