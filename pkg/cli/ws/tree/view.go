package tree

import (
	"cmp"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/output"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/ws/stage"
)

// viewKind is the kind of the document that a tree is.
const viewKind = "WorkspaceTree"

// noAccess is the error of a workspace that may not be looked into.
const noAccess = "no access"

// View is a tree as a document.
type View struct {
	metav1.TypeMeta `json:",inline"`
	Item            `json:",inline"`
}

// Item is a workspace in a View.
type Item struct {
	// Name is that of the Workspace.
	Name string `json:"name"`
	// Path leads to the workspace.
	Path string `json:"path"`
	// Cluster is the name of the logical cluster.
	Cluster string `json:"cluster,omitempty"`
	// Type is that of the workspace, with its path.
	Type string `json:"type,omitempty"`
	// Phase of the workspace, and what it waits for if it is not ready.
	Phase   string `json:"phase,omitempty"`
	Message string `json:"message,omitempty"`
	// ClusterPhase is that of the logical cluster. It is there with --wide only.
	ClusterPhase string `json:"clusterPhase,omitempty"`
	// Mount is what the workspace is mounted from.
	Mount *tenancyv1alpha1.ObjectReference `json:"mount,omitempty"`
	// Exports and Bindings are there with --bindings only.
	Exports  []string      `json:"exports,omitempty"`
	Bindings []BindingItem `json:"bindings,omitempty"`
	// Omitted is how many children are left out because they are too deep.
	Omitted int `json:"omitted,omitempty"`
	// Children are the workspaces in this one.
	Children []Item `json:"children"`
	// Error says why the children are not known.
	Error string `json:"error,omitempty"`
}

// BindingItem is an APIBinding in a View.
type BindingItem struct {
	// Name of the APIBinding.
	Name string `json:"name"`
	// Export is the path and the name of what is bound.
	Export string `json:"export"`
	// Phase of the binding.
	Phase string `json:"phase,omitempty"`
}

// view returns the tree below top as a document.
func (m *more) view(top *node) View {
	return View{TypeMeta: output.Meta(viewKind), Item: m.item(top)}
}

func (m *more) item(n *node) Item {
	item := m.single(n)
	item.Children = make([]Item, 0, len(n.children))
	for _, child := range n.children {
		item.Children = append(item.Children, m.item(child))
	}
	return item
}

// single returns a workspace without its children.
func (m *more) single(n *node) Item {
	item := Item{
		Name: n.Name, Path: n.Path.String(), Cluster: n.Cluster, ClusterPhase: m.phases[n.Node], Omitted: n.Hidden, Error: errorOf(n),
	}
	if ws := n.Workspace; ws != nil {
		at := stage.Of(ws)
		item.Phase, item.Message = at.Phase, at.Reason
		if ws.Spec.Type != nil {
			item.Type = strings.TrimPrefix(ws.Spec.Type.Path+":"+ws.Spec.Type.Name, ":")
		}
		if ws.Spec.Mount != nil {
			item.Mount = &ws.Spec.Mount.Reference
		}
	}
	found := m.apis[n.Node]
	for _, export := range found.exports {
		item.Exports = append(item.Exports, export.Name)
	}
	for _, b := range found.bindings {
		item.Bindings = append(item.Bindings, BindingItem{Name: b.Name, Export: exportOf(b, n.Path), Phase: string(b.Status.Phase)})
	}
	if found.err != nil {
		item.Error = cmp.Or(item.Error, run.Message(found.err))
	}
	return item
}

func errorOf(n *node) string {
	switch {
	case n.Forbidden:
		return noAccess
	case n.Err != nil:
		return run.Message(n.Err)
	default:
		return ""
	}
}

// paths returns the paths of the workspaces that the filters ask for, as commands take
// them.
func paths(top *node) []string {
	var lines []string
	for _, n := range top.all() {
		if n.hit {
			lines = append(lines, ":"+n.Path.String())
		}
	}
	return lines
}

// names returns the workspaces that the filters ask for as kubectl takes them. The start
// is none: its Workspace, if it has one, is somewhere else.
func names(top *node) []string {
	var lines []string
	for _, n := range top.all() {
		if n.hit && n.Workspace != nil {
			lines = append(lines, "workspace."+tenancyv1alpha1.GroupName+"/"+n.Name)
		}
	}
	return lines
}
