package tree

import (
	"fmt"
	"io"
	"strings"

	"github.com/forkless/kcp/pkg/cli/display"
)

// again marks a type that is drawn with what extends it elsewhere: a type may extend two.
const again = " (see above)"

// draw writes the types as trees: each below those that it extends.
func draw(w io.Writer, d display.Display, g *graph) error {
	p := &painter{glyphs: d.Glyphs(), display: d, drawn: map[*node]bool{}}
	for _, n := range g.nodes {
		if len(n.bases) == 0 {
			p.node(n, "", "")
		}
	}
	_, err := io.WriteString(w, p.text.String())
	return err
}

type painter struct {
	text    strings.Builder
	display display.Display
	glyphs  display.Glyphs
	drawn   map[*node]bool
}

// node draws n behind stroke, and what extends it behind indent.
func (p *painter) node(n *node, stroke, indent string) {
	repeated := p.drawn[n] && len(n.below) > 0
	label := n.String() + hooks(n)
	if repeated {
		label = n.String() + again
	}
	left := 0
	if p.display.Width > 0 {
		left = max(1, p.display.Width-display.Cells(stroke))
	}
	p.text.WriteString(stroke + p.display.Cut(display.Line(label), left) + "\n")
	if repeated {
		return
	}
	p.drawn[n] = true
	for i, below := range n.below {
		if i == len(n.below)-1 {
			p.node(below, indent+p.glyphs.LastChild, indent+p.glyphs.None)
			continue
		}
		p.node(below, indent+p.glyphs.Child, indent+p.glyphs.Through)
	}
}

// hooks says what workspaces wait for because of the type itself.
func hooks(n *node) string {
	var words []string
	if n.set.Type.Object.Spec.Initializer {
		words = append(words, "initializer")
	}
	if n.set.Type.Object.Spec.Terminator {
		words = append(words, "terminator")
	}
	if len(words) == 0 {
		return ""
	}
	return " (" + strings.Join(words, ", ") + ")"
}

// drawDot writes the graph in the language of Graphviz, with an edge from each type to
// what it extends.
func drawDot(w io.Writer, g *graph) error {
	var b strings.Builder
	b.WriteString("digraph types {\n  rankdir=BT;\n  node [shape=box];\n")
	for _, n := range g.nodes {
		fmt.Fprintf(&b, "  %q;\n", n)
	}
	for _, n := range g.nodes {
		for _, base := range n.bases {
			fmt.Fprintf(&b, "  %q -> %q;\n", n, base)
		}
	}
	b.WriteString("}\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// drawMermaid writes the graph in the language of Mermaid.
func drawMermaid(w io.Writer, g *graph) error {
	var b strings.Builder
	b.WriteString("graph BT\n")
	ids := map[*node]string{}
	for i, n := range g.nodes {
		ids[n] = fmt.Sprintf("t%d", i)
		fmt.Fprintf(&b, "  %s[\"%s\"]\n", ids[n], n)
	}
	for _, n := range g.nodes {
		for _, base := range n.bases {
			fmt.Fprintf(&b, "  %s --> %s\n", ids[n], ids[base])
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
