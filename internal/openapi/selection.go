package openapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/internal/schema"
)

// content is what documents of v3 describe.
type content struct {
	// name stands for everything in it beside the definitions.
	name        string
	definitions []schema.Served
	// selection bounds what is built in; nil if it is all there.
	selection *schema.Selection
}

// everything returns what is described to a request of a cluster, nil if there is none.
func (o *OpenAPI) everything(req *http.Request) *content {
	served, ok := o.definitions(req)
	if !ok {
		return nil
	}
	return &content{name: "v3", definitions: served}
}

// selectedContent returns what is described of a selection.
func selectedContent(selection schema.Selection) *content {
	return &content{
		name:        "v3 selected " + fmt.Sprintf("%q", selection.Shown),
		definitions: selection.Definitions,
		selection:   &selection,
	}
}

// hasRoot says whether anything below a root of the built-in routes is described.
func (c *content) hasRoot(root string) bool {
	if c.selection == nil || root == "version" || root == "api" || root == "apis" {
		return true
	}
	group, isGroup := groupOf(root)
	return isGroup && slices.ContainsFunc(c.selection.Shown, func(s schema.Shown) bool { return s.Resource.Group == group })
}

// groupOf returns the group of a root such as "api/v1", "apis/example.com" or
// "apis/example.com/v1".
func groupOf(root string) (group string, ok bool) {
	if strings.HasPrefix(root, "api/") {
		return "", true
	}
	rest, ok := strings.CutPrefix(root, "apis/")
	group, _, _ = strings.Cut(rest, "/")
	return group, ok
}

// part returns what is selected of the built-in routes below root.
func (c *content) part(root string, all fragment) fragment {
	group, isGroup := groupOf(root)
	if c.selection == nil || !isGroup {
		return all
	}
	selected := fragment{paths: map[string]json.RawMessage{}, schemas: all.schemas, parameters: all.parameters}
	for path, description := range all.paths {
		resource, subresource := resourceAt(strings.TrimPrefix(path, "/"+root))
		shown, ok := c.selection.Find(apischema.GroupResource{Group: group, Resource: resource})
		if resource == "" || ok && (subresource == "" || slices.Contains(shown.Subresources, subresource)) {
			selected.paths[path] = description
		}
	}
	return selected
}

// resourceAt returns the resource and subresource that a path below a group version is
// for; nothing if it is for the group version itself.
func resourceAt(path string) (resource, subresource string) {
	segments := strings.Split(strings.Trim(path, "/"), "/")
	if segments[0] == "watch" {
		segments = segments[1:]
	}
	if len(segments) > 2 && segments[0] == "namespaces" && segments[1] == "{namespace}" {
		segments = segments[2:]
	}
	switch {
	case len(segments) == 0:
		return "", ""
	case len(segments) > 2:
		return segments[0], segments[2]
	default:
		return segments[0], ""
	}
}
