// Package output is the flag -o: documents instead of prose, in the formats that kubectl
// has, by kubectl's own printers.
//
// What people read has no format name here; a command prints that itself when Format is
// empty, or "wide". The same holds for formats that only one command has: it names them
// to New, and prints them.
//
// What is no API object but was made up by a command, such as a tree, is printed as a
// document of the group cli.kcp.io, to which fields are only ever added.
package output

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/printers"
)

const (
	// Wide asks for more columns.
	Wide = "wide"
	// Path asks for the paths of workspaces, in the form that commands take them in.
	Path = "path"
	// Name asks for kinds and names, in the form that kubectl takes them in.
	Name = "name"
)

// Flags are what documents are asked for with.
type Flags struct {
	// Format is the name of the format, with an argument behind "=" where it takes one.
	Format string
	// ShowManagedFields keeps who owns which field in json and yaml.
	ShowManagedFields bool
	// NoHeaders leaves out the titles of columns.
	NoHeaders bool

	wide  bool
	extra []string
}

// New returns the flags of a command; wide says that it has more columns to show. extra
// are formats that not every command has: Path, which Print knows, and such as the
// command prints itself.
func New(wide bool, extra ...string) *Flags { return &Flags{wide: wide, extra: extra} }

// AddFlags adds the flags to flags.
func (f *Flags) AddFlags(flags *pflag.FlagSet) {
	flags.StringVarP(&f.Format, "output", "o", f.Format, "Output format: "+strings.Join(f.formats(), ", "))
	flags.BoolVar(&f.ShowManagedFields, "show-managed-fields", f.ShowManagedFields, "Keep managedFields in json and yaml")
	flags.BoolVar(&f.NoHeaders, "no-headers", f.NoHeaders, "Leave out the titles of columns")
}

// Document says whether a document is asked for, and not prose.
func (f *Flags) Document() bool { return f.Format != "" && f.Format != Wide }

// Validate finds a format that does not exist, before anything is done.
func (f *Flags) Validate() error {
	if f.Format == "" {
		return nil
	}
	_, err := f.printer()
	return err
}

// Print writes an object as the document that was asked for.
func (f *Flags) Print(w io.Writer, object runtime.Object) error {
	printer, err := f.printer()
	if err != nil {
		return err
	}
	return printer.PrintObj(object, w)
}

// List returns objects as the list that kubectl makes of several.
func List(items []unstructured.Unstructured) *unstructured.UnstructuredList {
	list := &unstructured.UnstructuredList{Items: items}
	list.SetAPIVersion("v1")
	list.SetKind("List")
	return list
}

func (f *Flags) formats() []string {
	formats := []string{
		"json", "yaml", Name, "jsonpath=...", "jsonpath-file=...", "go-template=...", "go-template-file=...",
		"custom-columns=...", "custom-columns-file=...",
	}
	if f.wide {
		formats = append(formats, Wide)
	}
	return append(formats, f.extra...)
}

func (f *Flags) printer() (printers.ResourcePrinter, error) {
	format, argument, hasArgument := strings.Cut(f.Format, "=")
	if hasArgument != slices.Contains(f.formats(), format+"=...") {
		return nil, f.unknown()
	}
	switch format {
	case "json":
		return f.omit(&printers.JSONPrinter{}), nil
	case "yaml":
		return f.omit(&printers.YAMLPrinter{}), nil
	case Name:
		return &printers.NamePrinter{ShortOutput: true}, nil
	case "jsonpath", "go-template", "custom-columns":
		return f.templated(format, argument)
	case "jsonpath-file", "go-template-file", "custom-columns-file":
		content, err := os.ReadFile(argument)
		if err != nil {
			return nil, fmt.Errorf("reading the template: %w", err)
		}
		return f.templated(strings.TrimSuffix(format, "-file"), string(content))
	case Path:
		if slices.Contains(f.extra, Path) {
			return printers.ResourcePrinterFunc(printPaths), nil
		}
	}
	if slices.Contains(f.formats(), format) {
		return printers.NewDiscardingPrinter(), nil
	}
	return nil, f.unknown()
}

// templated returns the printer for a format that is written down in a template.
func (f *Flags) templated(format, template string) (printers.ResourcePrinter, error) {
	switch format {
	case "jsonpath":
		return newJSONPath(template)
	case "go-template":
		return printers.NewGoTemplatePrinter([]byte(template))
	default:
		return newColumns(template, f.NoHeaders)
	}
}

func (f *Flags) unknown() error {
	return fmt.Errorf("unknown output format %q, known are %s", f.Format, strings.Join(f.formats(), ", "))
}

func newJSONPath(template string) (printers.ResourcePrinter, error) {
	printer, err := printers.NewJSONPathPrinter(template)
	if err != nil {
		return nil, fmt.Errorf("the template %q: %w", template, err)
	}
	// As with kubectl, what an object lacks is nothing.
	printer.AllowMissingKeys(true)
	return printers.ResourcePrinterFunc(func(object runtime.Object, w io.Writer) error {
		if err := printer.PrintObj(object, w); err != nil {
			return fmt.Errorf("the template %q: %s", template, executing(err))
		}
		return nil
	}), nil
}

// executing returns what went wrong with a template, of an error that goes on with the
// template and the whole object.
func executing(err error) string {
	_, reason, found := strings.Cut(err.Error(), "Error executing template: ")
	if !found {
		return err.Error()
	}
	reason, _, _ = strings.Cut(reason, ". Printing more information")
	return reason
}

func (f *Flags) omit(printer printers.ResourcePrinter) printers.ResourcePrinter {
	if f.ShowManagedFields {
		return printer
	}
	return &printers.OmitManagedFieldsPrinter{Delegate: printer}
}
