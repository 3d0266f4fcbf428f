package create

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/confirm"
	"github.com/forkless/kcp/pkg/cli/output"
	"github.com/forkless/kcp/pkg/cli/typeref"
	"github.com/forkless/kcp/pkg/cli/ws/target"
)

const (
	// visiblePatience is how long a workspace may be missing after it was created: a
	// read may be answered by another server than the write.
	visiblePatience = 5 * time.Second
	// readyPatience is how long a workspace may take to become ready.
	readyPatience = 60 * time.Second
)

// Options are what the command is called with.
type Options struct {
	// Name of the workspace, or the path to it.
	Name string
	// Type is [PATH:]NAME of the workspace type, "" for the parent's default.
	Type string
	// LocationSelector picks the shard by its labels.
	LocationSelector string
	// Parent names the workspace to create it in, "" for the current one.
	Parent string
	// Shard is the name of the shard to put it on, short for a LocationSelector.
	Shard string
	// Parents creates the workspaces above it that are missing, of the type ParentType.
	Parents    bool
	ParentType string
	// Labels and Annotations are KEY=VALUE each.
	Labels, Annotations []string
	// Description says what the workspace is for.
	Description string
	// Protect is the reason for which it is not to be deleted lightly.
	Protect string
	// Wait says whether to wait until it is ready, and Timeout how long.
	Wait    bool
	Timeout time.Duration
	// DryRun is none, client or server.
	DryRun string
	// Output is the format in which the workspace is printed.
	Output *output.Flags
	// Enter goes to the workspace afterwards.
	Enter bool
	// IgnoreExisting is content with a workspace that exists already.
	IgnoreExisting bool
	// CreateContext is the name of a context to write for the workspace.
	CreateContext string

	finder *target.Finder
	// object is what is asked of the server, without a name.
	object     tenancyv1alpha1.Workspace
	parentType tenancyv1alpha1.WorkspaceTypeReference

	visiblePatience time.Duration
}

// The values of --dry-run.
const (
	dryRunNone   = "none"
	dryRunClient = "client"
	dryRunServer = "server"
)

// universal is the type of the workspaces above that are missing.
const universal = "root:universal"

// NewOptions returns the options of a command that is called without any.
func NewOptions(finder *target.Finder) *Options {
	return &Options{
		ParentType: universal, Wait: true, Timeout: readyPatience, DryRun: dryRunNone, Output: output.New(false, output.Path),
		finder: finder, visiblePatience: visiblePatience,
	}
}

// AddFlags adds the flags of the command to flags.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.Type, "type", o.Type, "Type of the workspace, [PATH:]NAME. Without it the parent decides")
	flags.BoolVar(&o.Enter, "enter", o.Enter, "Go to the workspace when it is ready")
	flags.BoolVar(&o.IgnoreExisting, "ignore-existing", o.IgnoreExisting, "Be content with a workspace that exists already. --type must then be absolute, such as root:universal")
	flags.StringVar(&o.LocationSelector, "location-selector", o.LocationSelector, "Label selector for the shard of the workspace, such as name=shard-1")
	flags.StringVar(&o.CreateContext, "create-context", o.CreateContext, "Write a kubeconfig context with this name for the workspace")
	flags.StringVar(&o.Shard, "shard", o.Shard, "Name of the shard to put it on, short for --location-selector name=SHARD")
	flags.BoolVarP(&o.Parents, "parents", "p", o.Parents, "Create the workspaces above it that are missing")
	flags.StringVar(&o.ParentType, "parent-type", o.ParentType, "With --parents: type of the workspaces above it, [PATH:]NAME")
	flags.StringArrayVar(&o.Labels, "label", o.Labels, "Label of the workspace, KEY=VALUE; may be repeated")
	flags.StringArrayVar(&o.Annotations, "annotation", o.Annotations, "Annotation of the workspace, KEY=VALUE; may be repeated")
	flags.StringVar(&o.Description, "description", o.Description, "What the workspace is for")
	flags.StringVar(&o.Protect, "protect", o.Protect, "Reason for which the workspace is not to be deleted lightly")
	flags.BoolVar(&o.Wait, "wait", o.Wait, "Wait until the workspace is ready")
	flags.DurationVar(&o.Timeout, "timeout", o.Timeout, "How long to wait")
	flags.StringVar(&o.DryRun, "dry-run", o.DryRun, "none, client (send nothing) or server (store nothing)")
	o.Output.AddFlags(flags)
	flags.StringVarP(&o.Parent, "workspace", "w", o.Parent, "Workspace to create it in, instead of the current one")
}

// Complete turns the flags into what is asked of the server.
func (o *Options) Complete() error {
	var err error
	if o.Type != "" {
		ref, err := parseType("--type", o.Type)
		if err != nil {
			return err
		}
		o.object.Spec.Type = &ref
	}
	if o.parentType, err = parseType("--parent-type", o.ParentType); err != nil {
		return err
	}
	if err := o.completeLocation(); err != nil {
		return err
	}
	if o.object.Labels, err = pairs("--label", o.Labels); err != nil {
		return err
	}
	if o.object.Annotations, err = pairs("--annotation", o.Annotations); err != nil {
		return err
	}
	for key, value := range map[string]string{descriptionAnnotation: o.Description, confirm.ProtectedAnnotation: o.Protect} {
		if value != "" {
			o.object.Annotations = with(o.object.Annotations, key, value)
		}
	}
	return nil
}

func (o *Options) completeLocation() error {
	if o.Shard != "" {
		if o.LocationSelector != "" {
			return errors.New("--shard is short for a --location-selector, so one of them is enough")
		}
		o.LocationSelector = "name=" + o.Shard
	}
	if o.LocationSelector == "" {
		return nil
	}
	selector, err := metav1.ParseToLabelSelector(o.LocationSelector)
	if err != nil {
		return fmt.Errorf("--location-selector %q: %w", o.LocationSelector, err)
	}
	o.object.Spec.Location = &tenancyv1alpha1.WorkspaceLocation{Selector: selector}
	return nil
}

// Validate finds flags that do not go together.
func (o *Options) Validate() error {
	switch {
	case !slices.Contains([]string{dryRunNone, dryRunClient, dryRunServer}, o.DryRun):
		return fmt.Errorf("--dry-run %q is none of none, client, server", o.DryRun)
	case !o.Wait && (o.Enter || o.CreateContext != ""):
		return errors.New("--enter and --create-context need a workspace that is ready, so they do not go with --wait=false")
	case o.Timeout <= 0:
		return fmt.Errorf("--timeout %s leaves no time", o.Timeout)
	}
	if err := o.Output.Validate(); err != nil {
		return err
	}
	if !o.IgnoreExisting || o.Type == "" {
		return nil
	}
	// A relative type could not be compared with that of the existing workspace, which
	// the server has made absolute.
	if t := strings.TrimPrefix(o.Type, ":"); t != "root" && !strings.HasPrefix(t, "root:") {
		return fmt.Errorf("--ignore-existing needs an absolute --type, one that begins with root, not %q", o.Type)
	}
	return nil
}

// descriptionAnnotation says what a workspace is for.
const descriptionAnnotation = "kcp.io/description"

// pairs reads KEY=VALUE.
func pairs(flag string, given []string) (map[string]string, error) {
	var all map[string]string
	for _, s := range given {
		key, value, ok := strings.Cut(s, "=")
		if !ok || key == "" {
			return nil, fmt.Errorf("%s %q is not KEY=VALUE", flag, s)
		}
		all = with(all, key, value)
	}
	return all, nil
}

// with returns all with one more, all may be nil.
func with(all map[string]string, key, value string) map[string]string {
	if all == nil {
		all = map[string]string{}
	}
	all[key] = value
	return all
}

// parseType reads the value of a flag.
func parseType(flag, s string) (tenancyv1alpha1.WorkspaceTypeReference, error) {
	ref, err := typeref.Parse(s)
	if err != nil {
		return ref, fmt.Errorf("%s: %w", flag, err)
	}
	return ref, nil
}
