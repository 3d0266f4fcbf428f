package create

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"

	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/output"
	"github.com/forkless/kcp/pkg/cli/typeref"
	"github.com/forkless/kcp/pkg/cli/ws/target"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// The values of --dry-run.
const (
	dryRunNone   = "none"
	dryRunClient = "client"
	dryRunServer = "server"
)

// fieldManager is who the fields belong to, as kubectl has it for what it creates.
const fieldManager = "kubectl-create"

// Options are what the command is called with.
type Options struct {
	// Name of the type.
	Name string
	// Workspace names the workspace to create it in, "" for the current one.
	Workspace string
	// Extend are the types it builds on.
	Extend []string
	// Initializer and Terminator make workspaces of the type wait; the rules say what
	// whoever they wait for may do.
	Initializer, Terminator           bool
	InitializerRules, TerminatorRules []string
	// DefaultChild, AllowChildren, NoChildren and AllowParents say what may be below and
	// above workspaces of the type.
	DefaultChild                string
	AllowChildren, AllowParents []string
	NoChildren                  bool
	// Bind are exports as [PATH:]NAME, BindLifecycle how long their bindings are kept.
	Bind          []string
	BindLifecycle string
	// Labels are given to workspaces of the type.
	Labels map[string]string
	// AuthConfigs name authentication configurations.
	AuthConfigs []string
	// AllowUse are groups that may use the type.
	AllowUse []string
	// Check looks whether what is referred to is there.
	Check bool
	// DryRun is none, client or server.
	DryRun string
	// SaveConfig and FieldManager are as in kubectl create.
	SaveConfig   bool
	FieldManager string

	finder *target.Finder
	output *output.Flags

	spec tenancyv1alpha1.WorkspaceTypeSpec
}

// NewOptions returns the options of a command that is called without any.
func NewOptions(finder *target.Finder) *Options {
	return &Options{finder: finder, output: output.New(false), Check: true, DryRun: dryRunNone, FieldManager: fieldManager}
}

// AddFlags adds the flags of the command to flags. What may hold commas of its own is
// repeated instead.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.StringSliceVar(&o.Extend, "extend", o.Extend, "`TYPE` to build on; can be repeated")
	flags.BoolVar(&o.Initializer, "initializer", o.Initializer, "Make new workspaces wait for the type's initializer")
	flags.BoolVar(&o.Terminator, "terminator", o.Terminator, "Make the deletion of workspaces wait for the type's terminator")
	flags.StringArrayVar(&o.InitializerRules, "initializer-rule", o.InitializerRules, "`'VERBS RESOURCES[.GROUP]'` that the initializer may do, such as 'get,list configmaps,secrets'; can be repeated. Without any it acts as the creator of the workspace")
	flags.StringArrayVar(&o.TerminatorRules, "terminator-rule", o.TerminatorRules, "`'VERBS RESOURCES[.GROUP]'` that the terminator may do; can be repeated")
	flags.StringVar(&o.DefaultChild, "default-child", o.DefaultChild, "`TYPE` of workspaces that are created below without saying theirs")
	flags.StringSliceVar(&o.AllowChildren, "allow-child", o.AllowChildren, "`TYPE` that workspaces below may have, also by extending it; can be repeated. Without it all may")
	flags.BoolVar(&o.NoChildren, "no-children", o.NoChildren, "Allow no workspaces below")
	flags.StringSliceVar(&o.AllowParents, "allow-parent", o.AllowParents, "`TYPE` that the workspace above may have, also by extending it; can be repeated. Without it all may")
	flags.StringSliceVar(&o.Bind, "bind", o.Bind, "`PATH:EXPORT` that is bound in new workspaces; can be repeated")
	flags.StringVar(&o.BindLifecycle, "bind-lifecycle", o.BindLifecycle, "InitializeOnly, or Maintain to keep the bindings as type and exports are")
	flags.StringToStringVar(&o.Labels, "label", o.Labels, "`KEY=VALUE` that workspaces of the type are labelled with; can be repeated")
	flags.StringSliceVar(&o.AuthConfigs, "auth-config", o.AuthConfigs, "`NAME` of a WorkspaceAuthenticationConfiguration beside the type; can be repeated")
	flags.StringSliceVar(&o.AllowUse, "allow-use", o.AllowUse, "`GROUP` that may use the type, by a ClusterRole and a ClusterRoleBinding; can be repeated")
	flags.StringVarP(&o.Workspace, "workspace", "w", o.Workspace, "Workspace to create it in, instead of the current one")
	flags.BoolVar(&o.Check, "validate", o.Check, "Look first whether the types, exports and configurations that are named are there")
	flags.StringVar(&o.DryRun, "dry-run", o.DryRun, "none, client (send nothing) or server (send, but change nothing)")
	flags.Lookup("dry-run").NoOptDefVal = dryRunClient
	flags.BoolVar(&o.SaveConfig, "save-config", o.SaveConfig, "Save the configuration in an annotation, for kubectl apply")
	flags.StringVar(&o.FieldManager, "field-manager", o.FieldManager, "Name of the manager that the fields belong to")
	o.output.AddFlags(flags)
}

// Complete turns the flags into a spec. References are as they were given.
func (o *Options) Complete() error {
	var err error
	if o.spec.Extend.With, err = typeref.ParseAll(o.Extend); err != nil {
		return err
	}
	o.spec.Initializer, o.spec.Terminator = o.Initializer, o.Terminator
	if o.spec.InitializerPermissions, err = parseRules(o.InitializerRules); err != nil {
		return err
	}
	if o.spec.TerminatorPermissions, err = parseRules(o.TerminatorRules); err != nil {
		return err
	}
	if o.DefaultChild != "" {
		child, err := typeref.Parse(o.DefaultChild)
		if err != nil {
			return err
		}
		o.spec.DefaultChildWorkspaceType = &child
	}
	if o.spec.LimitAllowedChildren, err = limit(o.AllowChildren); err != nil {
		return err
	}
	if o.NoChildren {
		o.spec.LimitAllowedChildren = &tenancyv1alpha1.WorkspaceTypeSelector{None: true}
	}
	if o.spec.LimitAllowedParents, err = limit(o.AllowParents); err != nil {
		return err
	}
	if o.BindLifecycle != "" {
		lifecycle := tenancyv1alpha1.APIBindingLifecycle(o.BindLifecycle)
		o.spec.DefaultAPIBindingLifecycle = &lifecycle
	}
	for _, name := range o.AuthConfigs {
		o.spec.AuthenticationConfigurations = append(o.spec.AuthenticationConfigurations, tenancyv1alpha1.AuthenticationConfigurationReference{Name: name})
	}
	o.spec.AdditionalWorkspaceLabels = o.Labels
	o.spec.DefaultAPIBindings, err = parseExports(o.Bind)
	return err
}

// limit returns the selector of the types, nil for all.
func limit(args []string) (*tenancyv1alpha1.WorkspaceTypeSelector, error) {
	references, err := typeref.ParseAll(args)
	if err != nil || len(references) == 0 {
		return nil, err
	}
	return &tenancyv1alpha1.WorkspaceTypeSelector{Types: references}, nil
}

// parseExports reads [PATH:]EXPORT. Without a path it is the workspace of the type.
func parseExports(args []string) ([]tenancyv1alpha1.APIExportReference, error) {
	var exports []tenancyv1alpha1.APIExportReference
	for _, arg := range args {
		path, name := "", strings.TrimPrefix(arg, ":")
		if i := strings.LastIndex(name, ":"); i >= 0 {
			parsed, err := logicalcluster.ParsePath(name[:i])
			if err != nil {
				return nil, fmt.Errorf("--bind %q: %w", arg, err)
			}
			path, name = parsed.String(), name[i+1:]
		}
		if len(validation.IsDNS1123Subdomain(name)) > 0 {
			return nil, fmt.Errorf("--bind %q has to look like root:platform:certs", arg)
		}
		exports = append(exports, tenancyv1alpha1.APIExportReference{Path: path, Export: name})
	}
	return exports, nil
}

// Validate finds what cannot be, before anything is asked of the server.
func (o *Options) Validate() error {
	reserved := []string{tenancyv1alpha1.WorkspaceTypeReservedAny, tenancyv1alpha1.WorkspaceTypeReservedSystem}
	lifecycles := []string{"", string(tenancyv1alpha1.APIBindingLifecycleInitializeOnly), string(tenancyv1alpha1.APIBindingLifecycleMaintain)}
	switch {
	case slices.Contains(reserved, o.Name):
		return fmt.Errorf("%q cannot be the name of a workspace type", o.Name)
	case len(validation.IsDNS1123Label(o.Name)) > 0:
		return fmt.Errorf("%q cannot be the name of a workspace type: %s", o.Name, strings.Join(validation.IsDNS1123Label(o.Name), ", "))
	case o.NoChildren && len(o.AllowChildren) > 0:
		return errors.New("--no-children and --allow-child exclude each other")
	case len(o.InitializerRules) > 0 && !o.Initializer:
		return errors.New("--initializer-rule needs --initializer")
	case len(o.TerminatorRules) > 0 && !o.Terminator:
		return errors.New("--terminator-rule needs --terminator")
	case !slices.Contains(lifecycles, o.BindLifecycle):
		return fmt.Errorf("--bind-lifecycle is InitializeOnly or Maintain, not %q", o.BindLifecycle)
	case !slices.Contains([]string{dryRunNone, dryRunClient, dryRunServer}, o.DryRun):
		return fmt.Errorf("--dry-run is none, client or server, not %q", o.DryRun)
	}
	return o.output.Validate()
}
