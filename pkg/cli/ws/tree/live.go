package tree

import (
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"

	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/ws/stage"
	"github.com/forkless/kcp/pkg/cli/ws/walk"
)

// The kinds of changes, as they are told.
const (
	added   = "added"
	changed = "changed"
	removed = "removed"
)

// change is something that has happened to a workspace.
type change struct {
	kind string
	node *walk.Node
}

// live is a tree that is kept as watches tell it is. It is pure: it says which workspaces
// are to be watched from now on, and which no more.
type live struct {
	options *Options
	// hidden are the names of the children of workspaces that are as deep as is shown.
	hidden map[*walk.Node]map[string]bool

	// changes are what has happened since they were taken last.
	changes []change
	// open and close are the workspaces whose children are to be watched, and no more.
	open, close func(*walk.Node)
}

// start watches the tree below top.
func (l *live) start(top *walk.Node) {
	l.hidden = map[*walk.Node]map[string]bool{}
	for _, n := range top.All() {
		l.begin(n)
	}
}

// begin watches the children of n, if it can have some.
func (l *live) begin(n *walk.Node) {
	if n.Mount() || n.Workspace != nil && n.Workspace.Spec.URL == "" {
		return
	}
	l.open(n)
}

// list takes in that items are all the workspaces in n.
func (l *live) list(n *walk.Node, items []tenancyv1alpha1.Workspace) {
	n.Forbidden, n.Err = false, nil
	for _, child := range slices.Clone(n.Children) {
		if !slices.ContainsFunc(items, func(ws tenancyv1alpha1.Workspace) bool { return ws.Name == child.Name }) {
			l.remove(n, child.Name)
		}
	}
	l.hidden[n], n.Hidden = nil, 0
	for i := range items {
		l.put(n, &items[i])
	}
}

// event takes in a change of a workspace in n.
func (l *live) event(n *walk.Node, e client.Watched) {
	switch e.Type {
	case watch.Added, watch.Modified:
		l.put(n, &e.Workspace)
	case watch.Deleted:
		l.remove(n, e.Workspace.Name)
	}
}

// fail takes in that the workspaces in n are not known at the moment. Those that were
// known stay: most likely they are still there.
func (l *live) fail(n *walk.Node, err error) {
	switch {
	case apierrors.IsNotFound(err):
		l.list(n, nil)
	case apierrors.IsForbidden(err):
		l.list(n, nil)
		n.Forbidden = true
	default:
		n.Err = err
	}
}

// put takes in that ws is in n.
func (l *live) put(n *walk.Node, ws *tenancyv1alpha1.Workspace) {
	if ws.DeletionTimestamp != nil && !l.options.All {
		l.remove(n, ws.Name)
		return
	}
	if l.options.Depth > 0 && n.Depth >= l.options.Depth {
		l.hide(n, ws.Name)
		return
	}
	at, found := slices.BinarySearchFunc(n.Children, ws.Name, func(child *walk.Node, name string) int { return strings.Compare(child.Name, name) })
	if found && n.Children[at].Workspace.UID == ws.UID {
		l.update(n.Children[at], ws)
		return
	}
	if found {
		l.remove(n, ws.Name)
	}
	child := walk.Child(n, ws)
	n.Children = slices.Insert(n.Children, at, child)
	l.changes = append(l.changes, change{kind: added, node: child})
	if child.Err == nil {
		l.begin(child)
	}
}

// update takes in how a workspace is now.
func (l *live) update(child *walk.Node, ws *tenancyv1alpha1.Workspace) {
	before, hadPlace := l.look(child), child.Workspace.Spec.URL != ""
	child.Workspace = ws
	if !hadPlace && ws.Spec.URL != "" {
		placed := walk.Child(child.Parent, ws)
		child.Path, child.Cluster, child.Err = placed.Path, placed.Cluster, placed.Err
		if child.Err == nil {
			l.begin(child)
		}
	}
	if l.look(child) != before {
		l.changes = append(l.changes, change{kind: changed, node: child})
	}
}

// look returns what is told about a workspace: only what differs in that is a change.
func (l *live) look(n *walk.Node) string {
	at := stage.Of(n.Workspace)
	if l.options.Status {
		return at.Phase + " " + at.Reason
	}
	return at.Phase
}

// remove takes in that there is no workspace called name in n any more.
func (l *live) remove(n *walk.Node, name string) {
	if delete(l.hidden[n], name); l.hidden[n] != nil {
		n.Hidden = len(l.hidden[n])
	}
	i := slices.IndexFunc(n.Children, func(child *walk.Node) bool { return child.Name == name })
	if i < 0 {
		return
	}
	child := n.Children[i]
	n.Children = slices.Delete(n.Children, i, i+1)
	all := child.All()
	slices.Reverse(all)
	for _, gone := range all {
		l.close(gone)
		l.changes = append(l.changes, change{kind: removed, node: gone})
	}
}

// hide counts a workspace that is too deep to be shown.
func (l *live) hide(n *walk.Node, name string) {
	if l.hidden[n] == nil {
		l.hidden[n] = map[string]bool{}
	}
	l.hidden[n][name] = true
	n.Hidden = len(l.hidden[n])
}

// take returns what has happened since it was called last.
func (l *live) take() []change {
	changes := l.changes
	l.changes = nil
	return changes
}
