// Package hook are the commands "kubectl kcp debug initializer" and "kubectl kcp debug
// terminator": who waits for one, why nobody takes it away, and taking it away by hand.
package hook

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/confirm"
	"github.com/forkless/kcp/pkg/cli/diagnosis"
	"github.com/forkless/kcp/pkg/cli/diagnosis/hook"
	"github.com/forkless/kcp/pkg/cli/near"
	"github.com/forkless/kcp/pkg/cli/output"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/ws/target"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Options are what the commands are called with.
type Options struct {
	// Kind says which of the commands it is.
	Kind hook.Kind
	// Name of the hook: [<path>:]<type>; empty for those of all types of the workspace.
	Name string
	// Workspace names the workspace of the types, "" for the current one.
	Workspace string
	// Done names a workspace that shall not wait for the hook any more.
	Done string
	// As is somebody of whom it is asked whether he may act as the hook.
	As string
	// OlderThan is how long somebody may wait before it blocks.
	OlderThan time.Duration
	// Watch tells of arrivals and departures until it is interrupted.
	Watch bool

	confirm confirm.Flags
	output  *output.Flags
	finder  *target.Finder
}

// NewOptions returns the options of a command that is called without any.
func NewOptions(finder *target.Finder, kind hook.Kind) *Options {
	return &Options{finder: finder, Kind: kind, OlderThan: hook.DefaultOlderThan, output: output.New(false)}
}

// AddFlags adds the flags of the command to flags.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.StringVarP(&o.Workspace, "workspace", "w", o.Workspace, "Workspace of the types, instead of the current one")
	flags.StringVar(&o.Done, "done", o.Done, fmt.Sprintf("Take the %s away from the workspace at `PATH`: what it would do there is skipped", o.Kind))
	flags.StringVar(&o.As, "as", o.As, fmt.Sprintf("Find out whether this `USER`, or system:serviceaccount:NAMESPACE:NAME, may act as the %s", o.Kind))
	flags.DurationVar(&o.OlderThan, "older-than", o.OlderThan, "How long a workspace may wait before that is a problem")
	flags.BoolVar(&o.Watch, "watch", o.Watch, "Tell who begins to wait, and who has stopped")
	o.confirm.AddFlags(flags)
	flags.Lookup("yes").Usage = "Ask nothing"
	o.output.AddFlags(flags)
}

// Validate finds what contradicts itself.
func (o *Options) Validate() error {
	switch {
	case o.Name == "" && (o.Done != "" || o.As != ""):
		return fmt.Errorf("--done and --as need the name of one %s", o.Kind)
	case o.Done != "" && (o.As != "" || o.Watch), o.As != "" && o.Watch:
		return errors.New("only one of --done, --as and --watch can be done at a time")
	case o.OlderThan < 0:
		return errors.New("--older-than cannot be less than nothing")
	}
	return o.output.Validate()
}

// session is a command that knows its server.
type session struct {
	*Options
	origin *target.Origin
	client *client.Client
	// types is the workspace of types that are named without one.
	types    logicalcluster.Path
	gatherer hook.Gatherer
}

// Run answers the question, or does what is asked for.
func (o *Options) Run(ctx context.Context) error {
	if err := o.Validate(); err != nil {
		return err
	}
	s, err := o.begin(ctx)
	if err != nil {
		return err
	}
	ids, err := s.hooks(ctx)
	switch {
	case err != nil:
		return err
	case o.Done != "":
		return s.done(ctx, ids[0])
	case o.Watch:
		return s.follow(ctx, ids)
	case o.Name == "":
		return s.all(ctx, ids)
	}
	found := s.gatherer.Gather(ctx, o.Kind, ids[0])
	if found.Gone() && len(found.Waiting)+len(found.Workspaces) == 0 {
		// Workspaces can wait for a type that was deleted. This is a name that was mistyped.
		return s.missing(ctx, found.Described)
	}
	return s.print(hook.Judge(found))
}

// missing says that there is no such type, and which ones there are.
func (s *session) missing(ctx context.Context, gone hook.Described) error {
	err := fmt.Errorf("workspace type %s not found", gone.Name)
	all, listErr := s.client.WorkspaceTypes(ctx, gone.Path)
	if listErr != nil {
		return err
	}
	var names []string
	for i := range all {
		if s.Kind.Wanted(&all[i]) {
			names = append(names, gone.Path.String()+":"+all[i].Name)
		}
	}
	if meant := near.Names(gone.Name, names); len(meant) > 0 {
		return run.Hint(err, "did you mean "+strings.Join(meant, ", ")+"?")
	}
	return run.Hint(err, fmt.Sprintf("kubectl kcp debug %s -w :%s looks at all types there", s.Kind, gone.Path))
}

func (o *Options) begin(ctx context.Context) (*session, error) {
	origin, err := o.finder.Origin()
	if err != nil {
		return nil, err
	}
	c, err := origin.Client()
	if err != nil {
		return nil, err
	}
	types, err := origin.Workspace(ctx, o.Workspace)
	if err != nil {
		return nil, err
	}
	return &session{
		Options: o, origin: origin, client: c, types: types,
		gatherer: hook.Gatherer{
			Client: c, Commands: diagnosis.Commands{Here: origin.Path, URL: c.URL},
			OlderThan: o.OlderThan, As: o.As, ClientAs: origin.ClientAs,
		},
	}, nil
}

// hooks returns the identifiers of what was asked for.
func (s *session) hooks(ctx context.Context) ([]string, error) {
	name := strings.TrimPrefix(s.Name, ":")
	if name != "" {
		if hook.IsSystem(name) || strings.Contains(name, ":") {
			return []string{name}, nil
		}
		return []string{s.types.String() + ":" + name}, nil
	}
	types, err := client.List[tenancyv1alpha1.WorkspaceType](ctx, s.client, s.types, tenancyv1alpha1.GroupVersion.WithResource("workspacetypes"))
	if err != nil {
		return nil, err
	}
	var ids []string
	for i := range types {
		if s.Kind.Wanted(&types[i]) {
			ids = append(ids, s.types.String()+":"+types[i].Name)
		}
	}
	return ids, nil
}

// print answers about one hook.
func (s *session) print(d *diagnosis.Diagnosis) error {
	streams := s.finder.Streams
	if s.output.Document() {
		if err := s.output.PrintView(streams.Out, d); err != nil {
			return err
		}
		return d.Err()
	}
	if idle(d) && s.As == "" {
		_, err := fmt.Fprintf(streams.Out, "nothing waits for %s\n", d.Subject)
		return errors.Join(err, d.Err())
	}
	d.Print(streams.Out, s.finder.Display.For(streams.Out))
	return d.Err()
}

// idle says whether nobody waits, and that could be seen.
func idle(d *diagnosis.Diagnosis) bool {
	return len(d.Checks) == 1 && d.Checks[0].State == diagnosis.OK && len(d.Blockers) == 0
}

// all answers about the hooks of all types of a workspace.
func (s *session) all(ctx context.Context, ids []string) error {
	streams := s.finder.Streams
	var (
		all    []*diagnosis.Diagnosis
		answer error
	)
	for _, id := range ids {
		d := hook.Judge(s.gatherer.Gather(ctx, s.Kind, id))
		all = append(all, d)
		answer = errors.Join(answer, d.Err())
	}
	if s.output.Document() {
		if err := s.output.PrintView(streams.Out, diagnosis.NewList(all)); err != nil {
			return err
		}
		return no(answer)
	}
	if len(all) == 0 {
		_, _ = fmt.Fprintf(streams.Out, "no workspace type in %s has %ss\n", s.types, s.Kind)
	}
	for i, d := range all {
		if i > 0 && !idle(d) {
			_, _ = fmt.Fprintln(streams.Out)
		}
		if err := s.print(d); err != nil && !errors.Is(err, run.ErrNo) {
			return err
		}
	}
	return no(answer)
}

// no returns run.ErrNo if any answer was no.
func no(err error) error {
	if errors.Is(err, run.ErrNo) {
		return run.ErrNo
	}
	return err
}

// New returns the command for hooks of a kind.
func New(finder *target.Finder, kind hook.Kind) *cobra.Command {
	o := NewOptions(finder, kind)
	cmd := &cobra.Command{
		Use:   fmt.Sprintf("%s [%s]", kind, strings.ToUpper(string(kind))),
		Short: fmt.Sprintf("Find out who waits for %s, and why", an(kind)),
		Long: fmt.Sprintf(`Find out which workspaces wait for %[2]s, since when, and who has last
written to them as that. %[4]s is a workspace type with the path of its workspace before
it, as in root:acme:team, or alone if it is in the current one; without it all types there
are looked at.

Who may use the verb %[3]s on the type is told of all that wait, by the virtual workspace of
the type. Others are told of the workspaces they can list, and in which ones that was looked.

--done PATH takes the %[1]s away from one workspace. It asks first: what the controller of
the %[1]s would have done there is skipped. --as looks whether somebody else, a service
account of the workspace of the type for example, may act as the %[1]s.

Exit codes: 0 nobody has waited for long, 3 somebody has (--older-than), or the one in --as
may not act, 1 any error.`, kind, an(kind), kind.Verb(), strings.ToUpper(string(kind))),
		Example: fmt.Sprintf(`  kubectl kcp debug %[1]s
  kubectl kcp debug %[1]s root:acme:team
  kubectl kcp debug %[1]s root:acme:team --as system:serviceaccount:default:controller
  kubectl kcp debug %[1]s root:acme:team --done :root:acme:old`, kind),
		Args:              run.Args(cobra.MaximumNArgs(1)),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				o.Name = args[0]
			}
			return o.Run(cmd.Context())
		},
	}
	o.AddFlags(cmd.Flags())
	return cmd
}

func an(kind hook.Kind) string {
	if kind == hook.Initializer {
		return "an initializer"
	}
	return "a terminator"
}
