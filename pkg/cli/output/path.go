package output

import (
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/forkless/kcp/pkg/cli/ws/path"
)

// printPaths writes the path of each workspace in object, in the form that commands take
// an absolute path in. A Workspace has it in its URL, what commands make up in a field.
func printPaths(object runtime.Object, w io.Writer) error {
	if meta.IsListType(object) {
		return meta.EachListItem(object, func(item runtime.Object) error { return printPaths(item, w) })
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return err
	}
	found, _, _ := unstructured.NestedString(content, "path")
	if url, _, _ := unstructured.NestedString(content, "spec", "URL"); found == "" {
		if _, p, ok := path.SplitURL(url); ok {
			found = p.String()
		}
	}
	if found == "" {
		name, _, _ := unstructured.NestedString(content, "metadata", "name")
		return fmt.Errorf("workspace %q has no path yet", name)
	}
	_, err = fmt.Fprintf(w, ":%s\n", found)
	return err
}
