// Package pull is the command "kubectl kcp crd pull": the CustomResourceDefinitions of a
// workspace, or of any other Kubernetes server, as one would write them into a file.
package pull

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/forkless/kcp/pkg/cli/near"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/ws/target"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Options are what the command is called with.
type Options struct {
	// Resources are <plural> or <plural>.<group>; none stands for all.
	Resources []string
	// Workspace names the workspace to read, "" for what the kubeconfig leads to.
	Workspace string
	// Out is the folder to write to.
	Out string

	finder *target.Finder
}

// AddFlags adds the flags of the command to flags.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.StringVarP(&o.Workspace, "workspace", "w", o.Workspace, "Workspace to read, instead of what the kubeconfig leads to")
	flags.StringVar(&o.Out, "out", o.Out, "Folder for a file for each definition, instead of the output")
}

// Run writes the definitions.
func (o *Options) Run(ctx context.Context) error {
	definitions, err := o.definitions(ctx)
	if err != nil {
		return err
	}
	picked, err := pick(definitions, o.Resources)
	if err != nil {
		return err
	}
	if len(picked) == 0 {
		_, _ = fmt.Fprintln(o.finder.Streams.ErrOut, "No CustomResourceDefinitions here: what is built in or bound has none.")
	}
	for i := range picked {
		content, err := clean(&picked[i])
		if err != nil {
			return err
		}
		if err := o.write(picked[i].Name, content, i == 0); err != nil {
			return err
		}
	}
	return nil
}

func (o *Options) definitions(ctx context.Context) ([]apiextensionsv1.CustomResourceDefinition, error) {
	origin, err := o.finder.Origin()
	if err != nil {
		return nil, err
	}
	// A server without workspaces has definitions, too.
	var p logicalcluster.Path
	if o.Workspace != "" || origin.InWorkspace() {
		if p, err = origin.Workspace(ctx, o.Workspace); err != nil {
			return nil, err
		}
	}
	c, err := origin.Client()
	if err != nil {
		return nil, err
	}
	return c.Definitions(ctx, p)
}

func (o *Options) write(name string, content []byte, first bool) error {
	out := o.finder.Streams.Out
	if o.Out != "" {
		file := filepath.Join(o.Out, name+".yaml")
		if err := os.MkdirAll(o.Out, 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, content, 0o644); err != nil {
			return err
		}
		_, err := fmt.Fprintf(out, "%s written\n", file)
		return err
	}
	if !first {
		if _, err := fmt.Fprintln(out, "---"); err != nil {
			return err
		}
	}
	_, err := out.Write(content)
	return err
}

// pick returns the definitions of the resources that are named, each of which has to be
// there.
func pick(all []apiextensionsv1.CustomResourceDefinition, resources []string) ([]apiextensionsv1.CustomResourceDefinition, error) {
	if len(resources) == 0 {
		return all, nil
	}
	var picked []apiextensionsv1.CustomResourceDefinition
	for _, resource := range resources {
		i := slices.IndexFunc(all, func(crd apiextensionsv1.CustomResourceDefinition) bool {
			return crd.Name == resource || crd.Spec.Names.Plural == resource
		})
		if i < 0 {
			return nil, notFound(all, resource)
		}
		picked = append(picked, all[i])
	}
	return picked, nil
}

func notFound(all []apiextensionsv1.CustomResourceDefinition, resource string) error {
	var names []string
	for i := range all {
		names = append(names, all[i].Name)
	}
	hint := "what is built in or bound has no definition here"
	if candidates := near.Names(resource, names); len(candidates) > 0 {
		hint = "did you mean " + strings.Join(candidates, ", ") + "?"
	}
	return run.Hint(fmt.Errorf("there is no CustomResourceDefinition of %s", resource), hint)
}

// clean returns a definition as its author would have written it: without what servers
// add to it.
func clean(crd *apiextensionsv1.CustomResourceDefinition) ([]byte, error) {
	metadata := map[string]any{"name": crd.Name}
	annotations := map[string]string{}
	for key, value := range crd.Annotations {
		domain, _, _ := strings.Cut(key, "/")
		if domain != "kubectl.kubernetes.io" && domain != "kcp.io" && !strings.HasSuffix(domain, ".kcp.io") {
			annotations[key] = value
		}
	}
	if len(annotations) > 0 {
		metadata["annotations"] = annotations
	}
	if len(crd.Labels) > 0 {
		metadata["labels"] = crd.Labels
	}
	return yaml.Marshal(map[string]any{
		"apiVersion": apiextensionsv1.SchemeGroupVersion.String(),
		"kind":       "CustomResourceDefinition",
		"metadata":   metadata,
		"spec":       crd.Spec,
	})
}

// New returns the command.
func New(finder *target.Finder) *cobra.Command {
	o := &Options{finder: finder}
	cmd := &cobra.Command{
		Use:   "pull [RESOURCE]...",
		Short: "Get CustomResourceDefinitions out of a workspace or a cluster",
		Long: `Print the CustomResourceDefinitions of the current workspace, or of whichever server
the kubeconfig leads to, without what the server has added to them. RESOURCE is
<plural> or <plural>.<group>; without it all are printed.

Exit codes: 0 done, 1 any error, in which case nothing is written.`,
		Example: `  kubectl kcp crd pull --context kind-dev --out config/crd
  kubectl kcp crd pull widgets.example.dev`,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Resources = args
			return o.Run(cmd.Context())
		},
	}
	o.AddFlags(cmd.Flags())
	return cmd
}
