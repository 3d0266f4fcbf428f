package create

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
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
	// Name of the workspace.
	Name string
	// Type is [PATH:]NAME of the workspace type, "" for the parent's default.
	Type string
	// LocationSelector picks the shard by its labels.
	LocationSelector string
	// Parent names the workspace to create it in, "" for the current one.
	Parent string
	// Enter goes to the workspace afterwards.
	Enter bool
	// IgnoreExisting is content with a workspace that exists already.
	IgnoreExisting bool
	// CreateContext is the name of a context to write for the workspace.
	CreateContext string

	finder *target.Finder
	spec   tenancyv1alpha1.WorkspaceSpec

	visiblePatience, readyPatience time.Duration
}

// NewOptions returns the options of a command that is called without any.
func NewOptions(finder *target.Finder) *Options {
	return &Options{finder: finder, visiblePatience: visiblePatience, readyPatience: readyPatience}
}

// AddFlags adds the flags of the command to flags.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.Type, "type", o.Type, "Type of the workspace, [PATH:]NAME. Without it the parent decides")
	flags.BoolVar(&o.Enter, "enter", o.Enter, "Go to the workspace when it is ready")
	flags.BoolVar(&o.IgnoreExisting, "ignore-existing", o.IgnoreExisting, "Be content with a workspace that exists already. --type must then be absolute, such as root:universal")
	flags.StringVar(&o.LocationSelector, "location-selector", o.LocationSelector, "Label selector for the shard of the workspace, such as name=shard-1")
	flags.StringVar(&o.CreateContext, "create-context", o.CreateContext, "Write a kubeconfig context with this name for the workspace")
	flags.StringVarP(&o.Parent, "workspace", "w", o.Parent, "Workspace to create it in, instead of the current one")
}

// Complete turns the flags into what is asked of the server.
func (o *Options) Complete() error {
	if o.Type != "" {
		ref, err := parseType(o.Type)
		if err != nil {
			return err
		}
		o.spec.Type = &ref
	}
	if o.LocationSelector != "" {
		selector, err := metav1.ParseToLabelSelector(o.LocationSelector)
		if err != nil {
			return fmt.Errorf("--location-selector %q: %w", o.LocationSelector, err)
		}
		o.spec.Location = &tenancyv1alpha1.WorkspaceLocation{Selector: selector}
	}
	return nil
}

// Validate finds flags that do not go together.
func (o *Options) Validate() error {
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

// parseType reads [PATH:]NAME; a colon in front of an absolute path may be left out.
func parseType(s string) (tenancyv1alpha1.WorkspaceTypeReference, error) {
	var ref tenancyv1alpha1.WorkspaceTypeReference
	ref.Name = strings.TrimPrefix(s, ":")
	if i := strings.LastIndex(ref.Name, ":"); i >= 0 {
		ref.Path, ref.Name = ref.Name[:i], ref.Name[i+1:]
		if ref.Path == "" {
			return ref, fmt.Errorf("--type %q has an empty path", s)
		}
	}
	ref.Name = strings.ToLower(ref.Name)
	if ref.Name == "" {
		return ref, fmt.Errorf("--type %q has no name", s)
	}
	return ref, nil
}
