package walk

import (
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Node is a workspace in the tree. It is complete when Walk has returned; before that
// only what Found was called with may be looked at, and not its children.
type Node struct {
	// Name is that of the Workspace; for the start, the last segment of its path.
	Name string
	// Path leads to the workspace: the one in its URL, which need not be that of its
	// parent and its name.
	Path logicalcluster.Path
	// Cluster is the name of the logical cluster, "" if it is not known.
	Cluster string
	// Workspace is the object in the parent. The start has none.
	Workspace *tenancyv1alpha1.Workspace
	// Parent is nil for the start.
	Parent *Node
	// Depth is how far below the start the workspace is.
	Depth int

	// Children are the workspaces in it, in the order of the server.
	Children []*Node
	// Hidden is how many children there are that were left out because they are too deep.
	Hidden int
	// Forbidden says that the caller may not list the workspaces in it.
	Forbidden bool
	// Err says why the workspaces in it are not known, if that is not because it is
	// forbidden.
	Err error
}

// Mount says whether the workspace is a door to something else, which is not walked into.
func (n *Node) Mount() bool { return n.Workspace != nil && n.Workspace.Spec.Mount != nil }

// Phase returns the phase of the workspace, "" if it has none or is the start.
func (n *Node) Phase() string {
	if n.Workspace == nil {
		return ""
	}
	return string(n.Workspace.Status.Phase)
}

// All returns n and everything below it, each before what is below it.
func (n *Node) All() []*Node {
	var all []*Node
	var add func(n *Node)
	add = func(n *Node) {
		all = append(all, n)
		for _, child := range n.Children {
			add(child)
		}
	}
	add(n)
	return all
}

// isBelow says whether n is p or somewhere below it.
func (n *Node) isBelow(p logicalcluster.Path) bool {
	for ; n != nil; n = n.Parent {
		if n.Path == p {
			return true
		}
	}
	return false
}
