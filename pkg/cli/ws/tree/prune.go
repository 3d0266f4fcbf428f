package tree

import (
	"strings"

	"github.com/forkless/kcp/pkg/cli/ws/stage"
	"github.com/forkless/kcp/pkg/cli/ws/walk"
)

// node is a workspace that is shown.
type node struct {
	*walk.Node
	children []*node
	// hit says that the filters ask for it; others only lead to such.
	hit bool
}

// filter picks workspaces by what they are. The zero filter picks all.
type filter struct{ kind, phase string }

// matches says whether the filter asks for n. The start, of which nothing is known but its
// path, is asked for if everything is.
func (f filter) matches(n *walk.Node) bool {
	if f == (filter{}) {
		return true
	}
	if n.Workspace == nil {
		return false
	}
	return f.matchesType(n) && (f.phase == "" || strings.EqualFold(f.phase, stage.Of(n.Workspace).Phase))
}

// matchesType compares the type, with its path if the filter names one.
func (f filter) matchesType(n *walk.Node) bool {
	if f.kind == "" {
		return true
	}
	is := n.Workspace.Spec.Type
	if is == nil {
		return strings.EqualFold(f.kind, stage.Type(n.Workspace))
	}
	wanted := strings.ToLower(strings.TrimPrefix(f.kind, ":"))
	return wanted == is.Name || wanted == is.Path+":"+is.Name
}

// prune returns what of the tree below n the filter asks for, and what leads there; nil if
// there is nothing. The start always stays.
func (f filter) prune(n *walk.Node) *node {
	kept := &node{Node: n, hit: f.matches(n)}
	for _, child := range n.Children {
		if child := f.prune(child); child != nil {
			kept.children = append(kept.children, child)
		}
	}
	if !kept.hit && len(kept.children) == 0 && n.Parent != nil {
		return nil
	}
	return kept
}

// all returns n and everything below it, each before what is below it.
func (n *node) all() []*node {
	var all []*node
	var add func(n *node)
	add = func(n *node) {
		all = append(all, n)
		for _, child := range n.children {
			add(child)
		}
	}
	add(n)
	return all
}
