// Package snapshot is the command "kubectl kcp crd snapshot": an APIResourceSchema for
// each CustomResourceDefinition in some files. It asks no server.
package snapshot

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/forkless/kcp/pkg/cli/kcpplugin/definition"
	"github.com/forkless/kcp/pkg/cli/run"
)

// Options are what the command is called with.
type Options struct {
	// Files are what is read: files, folders, "-".
	Files []string
	// Prefix begins the names of the schemas. Without it one is derived from the day
	// and the content of each.
	Prefix string
	// Output is yaml or json.
	Output string

	streams run.Streams
	now     func() time.Time
}

// AddFlags adds the flags of the command to flags.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.StringSliceVarP(&o.Files, "filename", "f", o.Files, "File or folder with CustomResourceDefinitions, - for the input; can be repeated")
	flags.StringVar(&o.Prefix, "prefix", o.Prefix, "Begin of the schemas' names. Without it v<yymmdd>-<hash of the spec>")
	flags.StringVarP(&o.Output, "output", "o", o.Output, "Output format: yaml, json")
}

// Validate finds what is missing or makes no sense.
func (o *Options) Validate() error {
	if len(o.Files) == 0 {
		return fmt.Errorf("required flags are missing: --filename")
	}
	if o.Output != "yaml" && o.Output != "json" {
		return fmt.Errorf("unknown output format %q, known are yaml, json", o.Output)
	}
	if o.Prefix == "" {
		return nil
	}
	return definition.CheckPrefix(o.Prefix)
}

// Run prints the schemas.
func (o *Options) Run() error {
	definitions, err := definition.Read(o.Files, o.streams.In)
	if err != nil {
		return err
	}
	var schemas []runtime.Object
	for _, crd := range definitions {
		spec, err := definition.Spec(crd)
		if err != nil {
			return err
		}
		prefix := o.Prefix
		if prefix == "" {
			if prefix, err = definition.Prefix(spec, o.now()); err != nil {
				return err
			}
		}
		schema, err := definition.New(spec, prefix)
		if err != nil {
			return err
		}
		schemas = append(schemas, schema)
	}
	// Nothing is printed unless everything can be.
	for _, schema := range schemas {
		if err := o.print(schema); err != nil {
			return err
		}
	}
	return nil
}

// print writes a document with the separator behind it, which programs that read the
// output count on. The printers of kubectl put theirs between documents.
func (o *Options) print(schema runtime.Object) error {
	var printer printers.ResourcePrinter = &printers.YAMLPrinter{}
	if o.Output == "json" {
		printer = &printers.JSONPrinter{}
	}
	if err := printer.PrintObj(schema, o.streams.Out); err != nil {
		return err
	}
	_, err := fmt.Fprintln(o.streams.Out, "---")
	return err
}

// New returns the command.
func New(streams run.Streams) *cobra.Command {
	o := &Options{streams: streams, Output: "yaml", now: time.Now}
	cmd := &cobra.Command{
		Use:   "snapshot -f FILE",
		Short: "Make APIResourceSchemas of CustomResourceDefinitions",
		Long: `Print an APIResourceSchema for each CustomResourceDefinition in a file, a folder or
the input. It is called <prefix>.<plural>.<group>. As schemas never change, another
content needs another prefix; without --prefix it is made of the day and the content.

"kubectl kcp export init" does that and the rest of what an export needs.

Exit codes: 0 done, 1 any error.`,
		Example: `  kubectl kcp crd snapshot -f config/crd
  kubectl kcp crd snapshot -f crd.yaml --prefix v220801-abc
  kubectl get crd widgets.example.dev -o yaml | kubectl kcp crd snapshot -f -`,
		Args:              run.Args(cobra.ExactArgs(0)),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.Validate(); err != nil {
				return run.Misuse(cmd, err)
			}
			return o.Run()
		},
	}
	o.AddFlags(cmd.Flags())
	return cmd
}
