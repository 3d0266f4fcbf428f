// Package bind is the command "kubectl kcp bind apiexport": taking an API that somebody
// else offers into a workspace, and answering what its provider asks for in return.
package bind

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/cli/claim"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/near"
	"github.com/forkless/kcp/pkg/cli/progress"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/ws/target"
)

// Run binds the export.
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
	answers, err := o.answers(ctx, apis)
	if err != nil {
		return err
	}
	return o.bind(ctx, apis, o.binding(apis, answers))
}

// binding returns what is to be created.
func (o *Options) binding(apis *client.APIs, answers []apisv1alpha2.AcceptablePermissionClaim) *apisv1alpha2.APIBinding {
	return &apisv1alpha2.APIBinding{
		TypeMeta:   apis.TypeMeta("APIBinding"),
		ObjectMeta: metav1.ObjectMeta{Name: o.Name},
		Spec: apisv1alpha2.APIBindingSpec{
			Reference: apisv1alpha2.BindingReference{
				Export: &apisv1alpha2.ExportBindingReference{Path: o.exportPath.String(), Name: o.exportName},
			},
			PermissionClaims: answers,
		},
	}
}

// bind creates the binding and sees it through.
func (o *Options) bind(ctx context.Context, apis *client.APIs, want *apisv1alpha2.APIBinding) error {
	if o.DryRun == dryRunClient {
		return o.finish(want, "apibinding %s created (dry run)", o.Name)
	}
	binding, err := apis.CreateBinding(ctx, want, o.DryRun == dryRunServer)
	switch {
	case apierrors.IsAlreadyExists(err):
		return run.Hint(err, "--name gives the binding another name", "kubectl kcp claims get apibinding "+o.Name+o.where()+" shows what is there")
	case apierrors.IsForbidden(err):
		return o.forbidden(ctx, apis, err)
	case err != nil:
		return err
	case o.DryRun == dryRunServer:
		return o.finish(&binding.Sent, "apibinding %s created (server dry run)", o.Name)
	case !o.Wait:
		return o.finish(&binding.Sent, "apibinding %s created.", o.Name)
	}
	if err := o.progress("apibinding %s created. Waiting to successfully bind ...", o.Name); err != nil {
		return err
	}
	if binding, err = o.wait(ctx, apis, binding); err != nil {
		return err
	}
	o.remind(binding)
	return o.finish(&binding.Sent, "%s created and bound.", o.Name)
}

// forbidden adds to err which export may have been meant, for the server says the same of
// one that is not there and of one that may not be bound.
func (o *Options) forbidden(ctx context.Context, apis *client.APIs, err error) error {
	var names []string
	exports, listErr := apis.In(o.exportPath).Exports(ctx)
	for i := range exports {
		names = append(names, exports[i].Name)
	}
	if meant := near.Names(o.exportName, names); listErr == nil && len(meant) > 0 && !slices.Contains(names, o.exportName) {
		return run.Hint(err, fmt.Sprintf("did you mean %s:%s?", o.exportPath, strings.Join(meant, fmt.Sprintf(", %s:", o.exportPath))))
	}
	return run.Hint(err, fmt.Sprintf("kubectl kcp debug binding %s:%s%s looks at why", o.exportPath, o.exportName, o.where()))
}

// wait returns the binding when it is bound, and says meanwhile what is missing.
func (o *Options) wait(ctx context.Context, apis *client.APIs, binding *client.Binding) (*client.Binding, error) {
	p := progress.Start(o.finder.Streams, o.finder.Display, "apibinding "+binding.Name)
	defer p.Done("")
	w := Waiter{Timeout: o.Timeout, Told: p.State, Hint: "kubectl kcp debug binding " + binding.Name + o.where()}
	return w.Wait(ctx, apis, binding)
}

// where is what a command needs that is about the same workspace.
func (o *Options) where() string {
	if o.Workspace == "" {
		return ""
	}
	return " -w " + o.Workspace
}

// remind says which claims are not answered, which nobody notices otherwise until the
// provider does not do what it promised.
func (o *Options) remind(binding *client.Binding) {
	for _, open := range claim.Open(&binding.APIBinding) {
		_, _ = fmt.Fprintf(o.finder.Streams.ErrOut, "note: %s asks for %s (%s); answer with: kubectl kcp claims accept %s --resource %s%s\n",
			o.exportName, claim.Format(open), claim.FormatVerbs(open.Verbs), binding.Name, claim.Resource(open), o.where())
	}
}

// progress writes a line about what goes on: to the output, where programs have always
// found it, unless that is to hold a document.
func (o *Options) progress(format string, args ...any) error {
	return say(o.progressTo(), format, args...)
}

func (o *Options) progressTo() io.Writer {
	if o.output.Document() {
		return o.finder.Streams.ErrOut
	}
	return o.finder.Streams.Out
}

// finish writes the last line, and the document if one is asked for.
func (o *Options) finish(object runtime.Object, format string, args ...any) error {
	if err := o.progress(format, args...); err != nil || !o.output.Document() {
		return err
	}
	return o.output.Print(o.finder.Streams.Out, object)
}

func say(w io.Writer, format string, args ...any) error {
	_, err := fmt.Fprintf(w, format+"\n", args...)
	return err
}

// New returns the command.
func New(finder *target.Finder) *cobra.Command {
	o := NewOptions(finder)
	cmd := &cobra.Command{
		Use:   "apiexport PATH:EXPORT",
		Short: "Bind an APIExport, and wait until its APIs are there",
		Long: `Make an APIBinding in the current workspace, or in the one that --workspace names,
and wait until the APIs of the export are served there.

An export may ask for access to other objects in the workspace. At a terminal the
command shows what it asks for and lets you answer; otherwise the flags answer, and
what they do not answer stays open. An open claim gives no access, and keeps nothing
from being bound. "kubectl kcp claims" answers later.

CLAIM is resource[.group][:identity][=verb+verb...]. What is left out is as the export
asks for it, if you may read the export.

Exit codes: 0 bound, 1 any error, 130 interrupted while waiting.`,
		Example: `  kubectl kcp bind apiexport root:platform:certs
  kubectl kcp bind apiexport root:platform:certs --accept-permission-claim secrets=get+list
  kubectl kcp bind apiexport root:platform:certs -w :root:team --accept-all-permission-claims`,
		Args:              run.Args(cobra.ExactArgs(1)),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Reference = args[0]
			if err := o.Complete(); err != nil {
				return err
			}
			if err := o.Validate(); err != nil {
				return run.Misuse(cmd, err)
			}
			return o.Run(cmd.Context())
		},
	}
	o.AddFlags(cmd.Flags())
	return cmd
}
