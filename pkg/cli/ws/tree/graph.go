package tree

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/forkless/kcp/pkg/cli/ws/stage"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// graph is a tree as vertices and edges, for the languages in which graphs are written.
type graph struct {
	vertices []vertex
	// parents are the edges of the tree, from the index of a vertex to that of another.
	parents [][2]int
	// uses are those from providers to consumers.
	uses []use
}

// vertex is a workspace in a graph. Those that are not in the tree have no node.
type vertex struct {
	path logicalcluster.Path
	node *node
}

type use struct {
	from, to int
	export   string
}

// graph returns the tree below top as a graph, with providers and consumers if bindings
// were asked for.
func (m *more) graph(top *node) *graph {
	g := &graph{}
	index := map[logicalcluster.Path]int{}
	var add func(n *node)
	add = func(n *node) {
		at := len(g.vertices)
		g.vertices = append(g.vertices, vertex{path: n.Path, node: n})
		index[n.Path] = at
		for _, child := range n.children {
			g.parents = append(g.parents, [2]int{at, len(g.vertices)})
			add(child)
		}
	}
	add(top)
	for _, e := range m.edges(top) {
		from, ok := index[e.from]
		if !ok {
			from = len(g.vertices)
			index[e.from] = from
			g.vertices = append(g.vertices, vertex{path: e.from})
		}
		g.uses = append(g.uses, use{from: from, to: index[e.to], export: e.export})
	}
	return g
}

// title returns what stands in a vertex, in lines.
func (v vertex) title(full bool) []string {
	if v.node == nil {
		return []string{v.path.String()}
	}
	name := v.node.Name
	if full {
		name = v.path.String()
	}
	lines := []string{name + note(v.node)}
	if ws := v.node.Workspace; ws != nil {
		if kind := stage.Type(ws); kind != "" {
			lines = append(lines, kind)
		}
		if at := stage.Of(ws); !at.Settled() {
			lines = append(lines, at.Phase)
		}
	}
	return lines
}

// dot writes the graph in the language of Graphviz.
func (g *graph) dot(full bool) []string {
	lines := []string{"digraph workspaces {", "  rankdir=LR;", "  node [shape=box];"}
	for i, v := range g.vertices {
		style := ""
		if v.node == nil {
			style = ", style=dashed"
		}
		lines = append(lines, fmt.Sprintf("  n%d [label=%s%s];", i, quoted(strings.Join(v.title(full), "\n")), style))
	}
	for _, e := range g.parents {
		lines = append(lines, fmt.Sprintf("  n%d -> n%d;", e[0], e[1]))
	}
	for _, u := range g.uses {
		lines = append(lines, fmt.Sprintf("  n%d -> n%d [style=dashed, constraint=false, label=%s];", u.from, u.to, quoted(u.export)))
	}
	return append(lines, "}")
}

// quoted returns s as a string of Graphviz, in which a line break is written \n.
func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

// mermaid writes the graph in the language of Mermaid.
func (g *graph) mermaid(full bool) []string {
	lines := []string{"graph LR"}
	for i, v := range g.vertices {
		title := v.title(full)
		for j := range title {
			title[j] = escaped(title[j])
		}
		lines = append(lines, "  n"+strconv.Itoa(i)+`["`+strings.Join(title, "<br/>")+`"]`)
	}
	for _, e := range g.parents {
		lines = append(lines, fmt.Sprintf("  n%d --> n%d", e[0], e[1]))
	}
	for _, u := range g.uses {
		lines = append(lines, fmt.Sprintf("  n%d -. \"%s\" .-> n%d", u.from, escaped(u.export), u.to))
	}
	return lines
}

// escaped returns s without what means something to Mermaid, which has entities for that.
func escaped(s string) string {
	return strings.NewReplacer("#", "#35;", `"`, "#quot;", "<", "#lt;", ">", "#gt;").Replace(s)
}
