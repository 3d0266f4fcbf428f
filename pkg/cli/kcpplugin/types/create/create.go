// Package create is the command "kubectl create workspacetype", also known as
// "kubectl kcp type create": making a WorkspaceType from flags. What it refers to is
// looked up before anything is sent, for a type with a slip of the pen in it is found out
// otherwise by whoever creates the first workspace of it.
package create

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"

	rbacv1 "k8s.io/api/rbac/v1"

	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/output"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/typeref"
	"github.com/forkless/kcp/pkg/cli/ws/target"
	"github.com/forkless/kcp/pkg/tenancy"
)

// lastApplied is where kubectl apply finds what it has applied before.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// Run creates the type.
func (o *Options) Run(ctx context.Context) error {
	source, place, err := typeref.From(ctx, o.finder, o.Workspace)
	if err != nil {
		return err
	}
	if !place.Cluster.Empty() && !tenancy.MayBeNamed(place.Cluster, o.Name) {
		return fmt.Errorf("%q can only be the name of a workspace type in root", o.Name)
	}
	c := source.Client()
	check := &checker{client: c, source: source, place: place, name: o.Name, check: o.Check, note: o.note}
	if err := check.complete(ctx, &o.spec); err != nil {
		return err
	}
	wanted, err := o.wanted()
	if err != nil {
		return err
	}
	return o.create(ctx, c, place, wanted)
}

// wanted returns the type as it is to be created.
func (o *Options) wanted() (*tenancyv1alpha1.WorkspaceType, error) {
	t := &tenancyv1alpha1.WorkspaceType{
		TypeMeta:   metav1.TypeMeta{APIVersion: tenancyv1alpha1.GroupVersion.String(), Kind: "WorkspaceType"},
		ObjectMeta: metav1.ObjectMeta{Name: o.Name},
		Spec:       o.spec,
	}
	if !o.SaveConfig {
		return t, nil
	}
	t.Annotations = map[string]string{}
	config, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	t.Annotations[lastApplied] = string(config) + "\n"
	return t, nil
}

// create sends the type, and what lets others use it.
func (o *Options) create(ctx context.Context, c *client.Client, place tenancy.Place, t *tenancyv1alpha1.WorkspaceType) error {
	role, binding := access(o.Name, o.AllowUse)
	if o.DryRun != dryRunClient {
		options := client.WriteOptions{DryRun: o.DryRun == dryRunServer, FieldManager: o.FieldManager, Strict: true}
		created, err := c.CreateWorkspaceType(ctx, place.Path, t, options)
		switch {
		case apierrors.IsAlreadyExists(err):
			return run.Hint(err, "kubectl kcp type show "+o.Name+" shows what is there")
		case err != nil:
			return unknownFields(err)
		}
		t = created
		if err := o.allow(ctx, c, place, role, binding, options); err != nil {
			return err
		}
	}
	if err := o.print(t, role, binding); err != nil {
		return err
	}
	if o.DryRun == dryRunNone {
		o.advise(place)
	}
	return nil
}

// unknownField is how servers name a field that they do not know.
var unknownField = regexp.MustCompile(`unknown field "spec\.([^"]+)"`)

// unknownFields returns err in the words of the flags, if it says that the server is too
// old for what is asked of it. A type without what such a server drops would be another
// one: an initializer without its rules, for one, may do everything.
func unknownFields(err error) error {
	var fields []string
	for _, match := range unknownField.FindAllStringSubmatch(err.Error(), -1) {
		fields = append(fields, match[1])
	}
	if !apierrors.IsBadRequest(err) || len(fields) == 0 {
		return err
	}
	return fmt.Errorf("this server does not know %s of workspace types", strings.Join(fields, ", "))
}

// allow lets the groups use the type.
func (o *Options) allow(ctx context.Context, c *client.Client, place tenancy.Place, role *rbacv1.ClusterRole, binding *rbacv1.ClusterRoleBinding, options client.WriteOptions) error {
	if len(o.AllowUse) == 0 {
		return nil
	}
	err := c.CreateClusterRole(ctx, place.Path, role, options)
	if err == nil {
		err = c.CreateClusterRoleBinding(ctx, place.Path, binding, options)
	}
	if err != nil {
		return run.Hint(fmt.Errorf("workspace type %s is created, but the groups cannot use it: %w", o.Name, err),
			"verb use on workspacetypes/"+o.Name+" is what they need")
	}
	return nil
}

// print says what was created, or shows it.
func (o *Options) print(t *tenancyv1alpha1.WorkspaceType, role *rbacv1.ClusterRole, binding *rbacv1.ClusterRoleBinding) error {
	out := o.finder.Streams.Out
	if !o.output.Document() {
		_, err := fmt.Fprintf(out, "workspacetype.tenancy.kcp.io/%s created%s\n", o.Name, o.mode())
		return err
	}
	if len(o.AllowUse) == 0 {
		return o.output.Print(out, t)
	}
	var items []unstructured.Unstructured
	for _, object := range []any{t, role, binding} {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
		if err != nil {
			return err
		}
		items = append(items, unstructured.Unstructured{Object: content})
	}
	return o.output.Print(out, output.List(items))
}

// mode says that nothing has been stored, in kubectl's words.
func (o *Options) mode() string {
	switch o.DryRun {
	case dryRunClient:
		return " (dry run)"
	case dryRunServer:
		return " (server dry run)"
	default:
		return ""
	}
}

// advise tells who makes workspaces wait what the other side of that needs.
func (o *Options) advise(place tenancy.Place) {
	id := place.Path.Join(o.Name)
	if o.Initializer {
		o.say("hint: new workspaces wait for initializer %s, controllers need verb initialize on it", id)
		o.say("hint: kubectl ws kubeconfig --virtual initializing/%s", o.Name)
	}
	if o.Terminator {
		o.say("hint: deleted workspaces wait for terminator %s, controllers need verb terminate on it", id)
		o.say("hint: kubectl ws kubeconfig --virtual terminating/%s", o.Name)
	}
}

func (o *Options) note(format string, args ...any) { o.say("note: "+format, args...) }

func (o *Options) say(format string, args ...any) {
	_, _ = fmt.Fprintf(o.finder.Streams.ErrOut, format+"\n", args...)
}

// New returns the command.
func New(finder *target.Finder) *cobra.Command {
	o := NewOptions(finder)
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Create a workspace type",
		Long: `Create a workspace type in the current workspace, or in the one that --workspace names.

TYPE is [PATH:]NAME. A name without a path means the nearest type of that name: in this
workspace, above it, or in root; it is written down with its path. That all types,
exports and configurations exist is checked before anything is sent.

Exit codes: 0 created, 1 any error.`,
		Example: `  kubectl create workspacetype team --extend root:universal --initializer
  kubectl create workspacetype leaf --extend universal --no-children --bind root:platform:certs
  kubectl create workspacetype app --extend universal --initializer --initializer-rule 'get,create configmaps' --allow-use developers`,
		Args:              run.Args(cobra.ExactArgs(1)),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Name = args[0]
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
