package exportinit

import (
	"context"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/printers"
)

// The formats of the output.
const (
	formatYAML = "yaml"
	formatJSON = "json"
)

// printed is the store that remembers nothing: the output.
type printed struct {
	format string
	out    io.Writer
	begun  bool
}

func (*printed) load(context.Context, []string) (present, error) { return present{}, nil }

func (p *printed) putSchema(_ context.Context, s plannedSchema) error {
	return p.print(s.APIResourceSchema)
}

func (p *printed) putExport(_ context.Context, e plannedExport) error { return p.print(e.APIExport) }

func (p *printed) print(object runtime.Object) error {
	if p.begun {
		if _, err := fmt.Fprintln(p.out, "---"); err != nil {
			return err
		}
	}
	p.begun = true
	if p.format == formatJSON {
		return (&printers.JSONPrinter{}).PrintObj(object, p.out)
	}
	return (&printers.YAMLPrinter{}).PrintObj(object, p.out)
}
