package output

import (
	"fmt"
	"io"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/client-go/util/jsonpath"

	"github.com/forkless/kcp/pkg/cli/display"
	"github.com/forkless/kcp/pkg/cli/table"
)

// none stands in a column for which an object has nothing.
const none = "<none>"

// column is a title and where in an object its cells are.
type column struct {
	title string
	value *jsonpath.JSONPath
}

// newColumns returns a printer for columns in the form that kubectl has: on one line
// TITLE:JSONPATH, separated by commas, or two lines of words, the titles and the paths.
func newColumns(spec string, noHeaders bool) (printers.ResourcePrinter, error) {
	titles, paths, err := readColumns(spec)
	if err != nil {
		return nil, err
	}
	columns := make([]column, 0, len(titles))
	for i, title := range titles {
		value := jsonpath.New(title).AllowMissingKeys(true)
		if err := value.Parse(relaxed(paths[i])); err != nil {
			return nil, fmt.Errorf("the path %q of column %s: %w", paths[i], title, err)
		}
		columns = append(columns, column{title: title, value: value})
	}
	return printers.ResourcePrinterFunc(func(object runtime.Object, w io.Writer) error {
		return printColumns(w, object, columns, noHeaders)
	}), nil
}

// readColumns takes the two forms apart.
func readColumns(spec string) (titles, paths []string, err error) {
	spec = strings.TrimSpace(spec)
	if first, second, ok := strings.Cut(spec, "\n"); ok {
		titles, paths = strings.Fields(first), strings.Fields(second)
		if len(titles) != len(paths) {
			return nil, nil, fmt.Errorf("custom-columns have %d titles and %d paths", len(titles), len(paths))
		}
		return titles, paths, nil
	}
	for part := range strings.SplitSeq(spec, ",") {
		title, path, ok := strings.Cut(part, ":")
		if !ok || title == "" || path == "" {
			return nil, nil, fmt.Errorf("custom-columns are TITLE:PATH, separated by commas, such as NAME:.metadata.name, not %q", spec)
		}
		titles, paths = append(titles, title), append(paths, path)
	}
	return titles, paths, nil
}

// relaxed returns a path with what may be left out: the braces, and the dot in front.
func relaxed(path string) string {
	path = strings.TrimSuffix(strings.TrimPrefix(path, "{"), "}")
	if !strings.HasPrefix(path, ".") && !strings.HasPrefix(path, "[") {
		path = "." + path
	}
	return "{" + path + "}"
}

// printColumns writes a line for object, or for each of its items.
func printColumns(w io.Writer, object runtime.Object, columns []column, noHeaders bool) error {
	titles := make([]table.Column, 0, len(columns))
	for _, c := range columns {
		titles = append(titles, table.Column{Title: c.title})
	}
	// Columns that somebody has chosen are not cut.
	rows := table.New(display.Display{}, titles...)
	rows.NoHeaders = noHeaders
	add := func(item runtime.Object) error {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(item)
		if err != nil {
			return err
		}
		cells := make([]string, 0, len(columns))
		for _, c := range columns {
			found, err := c.value.FindResults(content)
			if err != nil {
				return err
			}
			cells = append(cells, cell(found))
		}
		rows.Row(cells...)
		return nil
	}
	var err error
	if meta.IsListType(object) {
		err = meta.EachListItem(object, add)
	} else {
		err = add(object)
	}
	if err != nil {
		return err
	}
	return rows.Print(w)
}

// cell returns what a path has led to.
func cell(found [][]reflect.Value) string {
	var values []string
	for _, group := range found {
		for _, v := range group {
			if v.IsValid() && v.CanInterface() && v.Interface() != nil {
				values = append(values, fmt.Sprint(v.Interface()))
			}
		}
	}
	if len(values) == 0 {
		return none
	}
	return strings.Join(values, ",")
}
