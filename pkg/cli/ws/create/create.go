// Package create is the command "kubectl create workspace", also known as
// "kubectl ws create": making a workspace, and waiting until it can be used.
package create

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd/api"

	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/kubeconfig"
	"github.com/forkless/kcp/pkg/cli/output"
	"github.com/forkless/kcp/pkg/cli/progress"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/ws/path"
	"github.com/forkless/kcp/pkg/cli/ws/ready"
	"github.com/forkless/kcp/pkg/cli/ws/switching"
	"github.com/forkless/kcp/pkg/cli/ws/target"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Run creates the workspace.
func (o *Options) Run(ctx context.Context) error {
	origin, err := o.finder.Origin()
	if err != nil {
		return err
	}
	parent, name, err := o.place(ctx, origin)
	if err != nil {
		return err
	}
	o.object.Name = name
	if o.DryRun == dryRunClient {
		return o.pretend(parent, &o.object)
	}
	c, err := origin.Client()
	if err != nil {
		return err
	}
	if o.DryRun == dryRunServer {
		ws, err := c.CheckWorkspace(ctx, parent, &o.object)
		if err != nil {
			return o.refusal(ctx, c, parent, err)
		}
		return o.pretend(parent, ws)
	}
	if o.Parents {
		if err := o.createParents(ctx, c, parent); err != nil {
			return err
		}
	}
	ws, existed, err := o.obtain(ctx, c, parent)
	if err != nil {
		return err
	}
	if !o.Wait {
		return o.leave(parent, ws, existed)
	}
	if ws, err = o.finish(ctx, c, parent, ws, existed); err != nil {
		return err
	}
	if err := o.arrive(ctx, origin, parent, ws); err != nil || !o.Output.Document() {
		return err
	}
	return o.print(parent, ws)
}

// wait waits until the workspace is ready, and says meanwhile what it waits for.
func (o *Options) wait(ctx context.Context, c *client.Client, parent logicalcluster.Path, ws *tenancyv1alpha1.Workspace, existed bool) (*tenancyv1alpha1.Workspace, error) {
	p := progress.Start(o.finder.Streams, o.finder.Display, "workspace "+parent.Join(ws.Name).String())
	defer p.Done("")
	w := ready.Waiter{Client: c, Parent: parent, VisiblePatience: o.visiblePatience, ReadyPatience: o.Timeout, State: p.State}
	if o.Parent == "" && ws.Name == o.Name {
		w.Called = o.Name
	}
	ready, err := w.Wait(ctx, ws, existed)
	if err == nil {
		p.Done("Ready")
	}
	return ready, err
}

// leave says that the workspace is there, without waiting for it.
func (o *Options) leave(parent logicalcluster.Path, ws *tenancyv1alpha1.Workspace, existed bool) error {
	what := "created"
	if existed {
		what = "already exists"
	}
	if err := o.say("%s %s.", title(ws), what); err != nil || !o.Output.Document() {
		return err
	}
	return o.print(parent, ws)
}

// pretend says what would have been created.
func (o *Options) pretend(parent logicalcluster.Path, ws *tenancyv1alpha1.Workspace) error {
	if o.Output.Document() {
		return o.print(parent, ws)
	}
	how := "dry run"
	if o.DryRun == dryRunServer {
		how = "server dry run"
	}
	return o.say("%s created (%s).", title(ws), how)
}

// print prints the workspace as the document that was asked for.
func (o *Options) print(parent logicalcluster.Path, ws *tenancyv1alpha1.Workspace) error {
	if o.Output.Format == output.Path {
		_, err := fmt.Fprintf(o.finder.Streams.Out, ":%s\n", parent.Join(ws.Name))
		return err
	}
	ws = ws.DeepCopy()
	ws.TypeMeta = metav1.TypeMeta{APIVersion: tenancyv1alpha1.GroupVersion.String(), Kind: "Workspace"}
	return o.Output.PrintView(o.finder.Streams.Out, ws)
}

// obtain creates the workspace or, if that is allowed, takes the one that is there.
func (o *Options) obtain(ctx context.Context, c *client.Client, parent logicalcluster.Path) (ws *tenancyv1alpha1.Workspace, existed bool, err error) {
	ws, err = c.CreateWorkspace(ctx, parent, &o.object)
	switch {
	case err == nil:
		return ws, false, nil
	case !apierrors.IsAlreadyExists(err):
		return nil, false, o.refusal(ctx, c, parent, err)
	case !o.IgnoreExisting:
		return nil, false, run.Hint(err, "--ignore-existing is content with the workspace that is there")
	}
	if ws, err = c.Workspace(ctx, parent, o.object.Name); err != nil {
		return nil, false, err
	}
	if !o.matches(ws) {
		return nil, false, fmt.Errorf("workspace %q already exists with type %s, not %s", o.object.Name, typeOf(ws), switching.FormatType(*o.object.Spec.Type))
	}
	return ws, true, nil
}

// matches says whether an existing workspace is of the type that was asked for.
func (o *Options) matches(ws *tenancyv1alpha1.Workspace) bool {
	switch want, have := o.object.Spec.Type, ws.Spec.Type; {
	case want == nil:
		return true
	case have == nil:
		return false
	default:
		return have.Name == want.Name && (want.Path == "" || have.Path == want.Path)
	}
}

// announce says what has happened so far, unless saying that it is ready tells all.
func (o *Options) announce(ws *tenancyv1alpha1.Workspace, existed bool) error {
	isReady := ready.IsReady(ws)
	switch {
	case existed && isReady:
		return o.say("%s already exists.", title(ws))
	case existed:
		return o.say("%s already exists. Waiting for it to be ready...", title(ws))
	case !isReady:
		return o.say("%s created. Waiting for it to be ready...", title(ws))
	default:
		return nil
	}
}

// arrive does what is to be done once the workspace is ready.
func (o *Options) arrive(ctx context.Context, origin *target.Origin, parent logicalcluster.Path, ws *tenancyv1alpha1.Workspace) error {
	if !o.Enter && o.CreateContext == "" {
		return nil
	}
	home, _ := origin.Home()
	p, err := pathOf(parent, ws, home)
	if err != nil {
		return err
	}
	if o.CreateContext == "" {
		return switching.Switcher{Finder: o.speaking()}.To(ctx, origin, p, typeOf(ws))
	}

	var change kubeconfig.Change
	err = o.finder.Flags.Store().Edit(ctx, func(config *api.Config) (err error) {
		change, err = kubeconfig.CreateContext(config, origin.Context(), kubeconfig.NewContext{
			Name:        o.CreateContext,
			Server:      origin.At(p),
			Overwrite:   o.IgnoreExisting,
			KeepCurrent: !o.Enter,
		})
		return err
	})
	if err != nil {
		return fmt.Errorf("failed to create context: %w", err)
	}
	return o.say("%s", change)
}

// say says something to the person: on the output, unless that is a document.
func (o *Options) say(format string, args ...any) error {
	_, err := fmt.Fprintf(o.speaking().Streams.Out, format+"\n", args...)
	return err
}

// speaking returns the finder with the streams for what is said to the person.
func (o *Options) speaking() *target.Finder {
	if !o.Output.Document() {
		return o.finder
	}
	finder := *o.finder
	finder.Streams.Out = finder.Streams.ErrOut
	return &finder
}

// pathOf returns the path of ws on the server that has been talked to. The host in
// its URL does not count: credentials stay on the server that they are for.
func pathOf(parent logicalcluster.Path, ws *tenancyv1alpha1.Workspace, home logicalcluster.Path) (logicalcluster.Path, error) {
	switch {
	case ws.Spec.Mount != nil:
		// The URL is that of what is mounted, which is reached through the workspace.
		return parent.Join(ws.Name), nil
	case !home.Empty() && (parent == home || strings.HasPrefix(parent.String(), home.String()+":")):
		// Home goes by more than one name, and what is below it is to be known as such
		// by the one that is remembered.
		return parent.Join(ws.Name), nil
	}
	_, p, ok := path.SplitURL(ws.Spec.URL)
	if !ok {
		return logicalcluster.Path{}, fmt.Errorf("the URL %q of workspace %q is no workspace URL", ws.Spec.URL, ws.Name)
	}
	return p, nil
}

// title names a workspace at the beginning of a sentence.
func title(ws *tenancyv1alpha1.Workspace) string {
	if t := typeOf(ws); t != "" {
		return fmt.Sprintf("Workspace %q (type %s)", ws.Name, t)
	}
	return fmt.Sprintf("Workspace %q", ws.Name)
}

func typeOf(ws *tenancyv1alpha1.Workspace) string {
	if ws.Spec.Type == nil {
		return ""
	}
	return switching.FormatType(*ws.Spec.Type)
}

// New returns the command.
func New(finder *target.Finder) *cobra.Command {
	o := NewOptions(finder)
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Create a workspace and wait until it is ready",
		Long: `Create a workspace in the current one, or in the one that --workspace names, and
wait until it is ready. NAME may be the path of the workspace; -p creates those above it
that are missing.

If it is not ready in time, the command says what was still missing; the workspace
stays and goes on getting ready.

Exit codes: 0 the workspace is ready, 1 any error, 130 interrupted while waiting.`,
		Example: `  kubectl create workspace app
  kubectl create workspace app --type root:organization --enter
  kubectl create workspace -p acme:payments:eu --parent-type root:organization
  kubectl create workspace app -w :root:team --create-context app`,
		Args:              run.Args(cobra.ExactArgs(1)),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Name = args[0]
			if err := o.Complete(); err != nil {
				return err
			}
			if err := o.Validate(); err != nil {
				return err
			}
			return o.Run(cmd.Context())
		},
	}
	o.AddFlags(cmd.Flags())
	return cmd
}
