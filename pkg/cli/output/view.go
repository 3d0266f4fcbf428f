package output

import (
	"encoding/json"
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// viewVersion is the API version of what commands make up themselves. No server has it.
const viewVersion = "cli.kcp.io/v1alpha1"

// Meta returns what a document of a kind that a command makes up begins with.
func Meta(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: viewVersion, Kind: kind}
}

// Named is a view that is about objects, whose names stand for it.
type Named interface {
	// Names returns the objects as <resource>.<group>/<name>.
	Names() []string
}

// PrintView writes something that a command has made up, a struct with the TypeMeta of
// Meta, as the document that was asked for.
func (f *Flags) PrintView(w io.Writer, view any) error {
	if named, ok := view.(Named); ok && f.Format == Name {
		for _, name := range named.Names() {
			if _, err := fmt.Fprintln(w, name); err != nil {
				return err
			}
		}
		return nil
	}
	object, err := toObject(view)
	if err != nil {
		return err
	}
	return f.Print(w, object)
}

// toObject returns the view in the form that printers take: a list if it has items.
func toObject(view any) (runtime.Object, error) {
	encoded, err := json.Marshal(view)
	if err != nil {
		return nil, fmt.Errorf("encoding the document: %w", err)
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(encoded); err != nil {
		return nil, fmt.Errorf("encoding the document: %w", err)
	}
	if object.IsList() {
		return object.ToList()
	}
	return object, nil
}
