package claims

import (
	"context"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/output"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/ws/target"
)

// GetOptions are what "claims get apibinding" is called with.
type GetOptions struct {
	// Name of the binding, "" for all.
	Name string
	// Workspace names the workspace to look in, "" for the current one.
	Workspace string
	// Wide shows everything that is known.
	Wide bool

	finder *target.Finder
	output *output.Flags
}

// AddFlags adds the flags of the command to flags.
func (o *GetOptions) AddFlags(flags *pflag.FlagSet) {
	flags.StringVarP(&o.Workspace, "workspace", "w", o.Workspace, "Workspace of the bindings, instead of the current one")
	flags.BoolVar(&o.Wide, "wide", o.Wide, "Show identities, selectors, what the export asks for, and what became of the answer")
	o.output.AddFlags(flags)
}

// Run prints the claims.
func (o *GetOptions) Run(ctx context.Context) error {
	apis, err := open(ctx, o.finder, o.Workspace)
	if err != nil {
		return err
	}
	var bindings []client.Binding
	if o.Name == "" {
		bindings, err = apis.Bindings(ctx)
	} else {
		var binding *client.Binding
		binding, err = apis.NamedBinding(ctx, o.Name)
		bindings = []client.Binding{*binding}
	}
	switch {
	case err != nil:
		return err
	case !o.output.Document():
		return o.printRows(o.finder.Streams.Out, apis.Old(), bindings)
	case o.Name != "":
		return o.output.Print(o.finder.Streams.Out, &bindings[0].Sent)
	}
	var items []unstructured.Unstructured
	for i := range bindings {
		items = append(items, bindings[i].Sent)
	}
	return o.output.Print(o.finder.Streams.Out, output.List(items))
}

// printRows prints a row for each claim. Claims of v1alpha1 have no verbs to show.
func (o *GetOptions) printRows(out io.Writer, old bool, bindings []client.Binding) error {
	columns := shown(old, o.Wide || o.output.Format == output.Wide)
	rows := newTable(o.finder.Display.For(out), columns)
	rows.NoHeaders = o.output.NoHeaders
	for i := range bindings {
		for _, r := range claimRows(&bindings[i].APIBinding) {
			rows.Row(r.cells(columns)...)
		}
	}
	return rows.Print(out)
}

func newGet(finder *target.Finder) *cobra.Command {
	o := &GetOptions{finder: finder, output: output.New(true)}
	cmd := &cobra.Command{
		Use:     "apibinding [BINDING]",
		Aliases: []string{"apibindings"},
		Short:   "Show the claims on a workspace and how they are answered",
		Long: `Show the claims of the providers whose APIs are bound in the current workspace, or in
the one that --workspace names. STATUS is Accepted, Rejected or Open, for what has no
answer yet.

With --wide, REASON says what became of an accepted claim: Applied; NotClaimed, if the
export does not ask for it; OtherIdentity, if it asks for objects of another identity;
OtherVerbs, if it asks for other verbs; Pending.

Exit codes: 0 done, 1 any error.`,
		Example: `  kubectl kcp claims get apibinding
  kubectl kcp claims get apibinding certs --wide`,
		Args:              run.Args(cobra.MaximumNArgs(1)),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				o.Name = args[0]
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
