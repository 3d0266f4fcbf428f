package tree

import (
	"cmp"
	"slices"

	"github.com/forkless/kcp/pkg/tenancy"
)

// node is a type and those that extend it.
type node struct {
	set *tenancy.Set
	// bases are the types that it names to extend, below those that name it.
	bases, below []*node
}

func (n *node) String() string { return n.set.Type.String() }

func (n *node) depth() int { return len(n.set.Type.Path.Segments()) }

// graph is types, those that are higher up first, and by name.
type graph struct{ nodes []*node }

// newGraph returns the graph of the types in sets and all that they extend. sets holds
// a set for each of these, too.
func newGraph(sets []*tenancy.Set) *graph {
	g := &graph{}
	for _, set := range sets {
		if g.find(set.Type.String()) == nil {
			g.nodes = append(g.nodes, &node{set: set})
		}
	}
	slices.SortFunc(g.nodes, func(a, b *node) int {
		return cmp.Or(cmp.Compare(a.depth(), b.depth()), cmp.Compare(a.String(), b.String()))
	})
	for _, n := range g.nodes {
		for _, base := range n.set.Bases {
			if above := g.find(base.String()); above != nil {
				n.bases = append(n.bases, above)
				above.below = append(above.below, n)
			}
		}
	}
	return g
}

func (g *graph) find(name string) *node {
	i := slices.IndexFunc(g.nodes, func(n *node) bool { return n.String() == name })
	if i < 0 {
		return nil
	}
	return g.nodes[i]
}
