// Package diff is the command "kubectl kcp crd diff": what those who use an API notice
// when its definition changes, and whether it breaks what they have.
//
// What is compared are two APIResourceSchemas or CustomResourceDefinitions, in files or
// workspaces. What cannot be decided, such as whether one regular expression allows all
// that another does, counts as breaking.
package diff

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/cli-runtime/pkg/printers"
	"sigs.k8s.io/yaml"

	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/kcpplugin/definition"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/ws/target"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Options are what the command is called with.
type Options struct {
	// Before and After are files, "-", or <path>:<schema>.
	Before, After string

	finder *target.Finder
}

// Run prints the changes.
func (o *Options) Run(ctx context.Context) error {
	before, err := o.load(ctx, o.Before)
	if err != nil {
		return err
	}
	after, err := o.load(ctx, o.After)
	if err != nil {
		return err
	}
	changes, err := compare(before, after)
	if err != nil {
		return err
	}
	if err := show(o.finder.Streams.Out, changes); err != nil {
		return err
	}
	for _, c := range changes {
		if c.breaks {
			return run.ErrNo
		}
	}
	return nil
}

// show prints a line for each change.
func show(out io.Writer, changes []change) error {
	tabs := printers.GetNewTabWriter(out)
	for _, c := range changes {
		verdict := "ok"
		if c.breaks {
			verdict = "breaks"
		}
		where := strings.TrimSpace(c.version + " " + c.path)
		if where == "" {
			where = "-"
		}
		if _, err := fmt.Fprintf(tabs, "%s\t%s\t%s\n", verdict, where, c.what); err != nil {
			return err
		}
	}
	return tabs.Flush()
}

// load returns what arg names.
func (o *Options) load(ctx context.Context, arg string) (apisv1alpha1.APIResourceSchemaSpec, error) {
	if arg == "-" {
		content, err := io.ReadAll(o.finder.Streams.In)
		if err != nil {
			return apisv1alpha1.APIResourceSchemaSpec{}, fmt.Errorf("reading the input: %w", err)
		}
		return parse("the input", content)
	}
	content, err := os.ReadFile(arg)
	i := strings.LastIndex(arg, ":")
	if errors.Is(err, os.ErrNotExist) && i > 0 {
		return o.fetch(ctx, strings.TrimPrefix(arg[:i], ":"), arg[i+1:])
	}
	if err != nil {
		return apisv1alpha1.APIResourceSchemaSpec{}, err
	}
	return parse(arg, content)
}

// parse returns the one definition or schema in content.
func parse(name string, content []byte) (apisv1alpha1.APIResourceSchemaSpec, error) {
	var schema apisv1alpha1.APIResourceSchema
	err := yaml.Unmarshal(content, &schema)
	if err == nil && schema.APIVersion == apisv1alpha1.GroupVersion.String() && schema.Kind == "APIResourceSchema" {
		return schema.Spec, nil
	}
	definitions, err := definition.Parse(name, content, true)
	if err != nil {
		return apisv1alpha1.APIResourceSchemaSpec{}, err
	}
	if len(definitions) != 1 {
		return apisv1alpha1.APIResourceSchemaSpec{}, fmt.Errorf("%s has %d CustomResourceDefinitions; one can be compared", name, len(definitions))
	}
	// How versions are converted is not compared, so that it does not have to be possible.
	definitions[0].Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter}
	return definition.Spec(definitions[0])
}

// fetch reads a schema from a workspace.
func (o *Options) fetch(ctx context.Context, path, name string) (apisv1alpha1.APIResourceSchemaSpec, error) {
	var none apisv1alpha1.APIResourceSchemaSpec
	workspace, err := logicalcluster.ParsePath(path)
	if err != nil {
		return none, fmt.Errorf("there is no file %s:%s, and %w", path, name, err)
	}
	origin, err := o.finder.Origin()
	if err != nil {
		return none, err
	}
	c, err := origin.Client()
	if err != nil {
		return none, err
	}
	apis, err := c.APIs(ctx, workspace)
	if err != nil {
		return none, err
	}
	schema, err := apis.ResourceSchema(ctx, name)
	if err != nil {
		return none, err
	}
	return schema.Spec, nil
}

// New returns the command.
func New(finder *target.Finder) *cobra.Command {
	o := &Options{finder: finder}
	return &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Tell what a change of an API does to those who use it",
		Long: `Print what those who use an API notice when the definition OLD becomes NEW, a line for
each field, and whether that breaks objects or clients that are fine with OLD. What
cannot be decided counts as breaking.

OLD and NEW are files with a CustomResourceDefinition or an APIResourceSchema, - for the
input, or PATH:SCHEMA for a schema in a workspace.

Exit codes: 0 nothing breaks, 3 something does, 1 any error.`,
		Example: `  kubectl kcp crd diff old.yaml new.yaml
  kubectl kcp crd diff root:platform:v1.certificates.cert-manager.io new.yaml`,
		Args:              run.Args(cobra.ExactArgs(2)),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Before, o.After = args[0], args[1]
			return o.Run(cmd.Context())
		},
	}
}
