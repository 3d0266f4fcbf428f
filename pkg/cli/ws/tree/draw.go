package tree

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/forkless/kcp/pkg/cli/run"
)

// The strokes of a branch, each four cells wide.
const (
	strokeChild     = "├── "
	strokeLastChild = "└── "
	strokeThrough   = "│   "
	strokeNone      = "    "
)

// row is a node with the strokes that lead to it.
type row struct {
	strokes string
	node    *node
}

// layOut returns n and everything below it from top to bottom.
func layOut(n *node) []row {
	var rows []row
	var add func(n *node, indent string, last bool)
	add = func(n *node, indent string, last bool) {
		stroke, below := strokeChild, strokeThrough
		if last {
			stroke, below = strokeLastChild, strokeNone
		}
		rows = append(rows, row{strokes: indent + stroke, node: n})
		for i, child := range n.children {
			add(child, indent+below, i == len(n.children)-1)
		}
	}
	add(n, "", true)
	return rows
}

// draw writes the tree below top, and an empty line.
func draw(out io.Writer, top *node, full bool) error {
	var b strings.Builder
	b.WriteString(".\n")
	for _, r := range layOut(top) {
		b.WriteString(r.strokes + label(r.node, full) + "\n")
	}
	b.WriteString("\n")
	_, err := io.WriteString(out, b.String())
	return err
}

// drawWide writes the tree below top with the phases of each workspace beside it.
func drawWide(out io.Writer, top *node, full bool) error {
	rows := layOut(top)
	labels := make([]string, len(rows))
	states := make([]string, len(rows))
	labelWidth, stateWidth := 0, 0
	for i, r := range rows {
		labels[i] = r.strokes + label(r.node, full)
		states[i] = "ws=" + r.node.phase
		labelWidth = max(labelWidth, utf8.RuneCountInString(labels[i]))
		stateWidth = max(stateWidth, len(states[i]))
	}

	var b strings.Builder
	b.WriteString(".\n")
	for i, r := range rows {
		clusterState := ""
		if r.node.clusterPhase != "" {
			clusterState = "lc=" + r.node.clusterPhase
		}
		// fmt counts runes, which is what the columns are made of.
		line := fmt.Sprintf("%-*s  %-*s  %s", labelWidth, labels[i], stateWidth, states[i], clusterState)
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// label returns what is written at a node.
func label(n *node, full bool) string {
	name := n.name
	if full {
		name = n.path.String()
	}
	switch {
	case n.mount:
		return name + " [m]"
	case n.forbidden:
		return name + " (no access)"
	case n.err != nil:
		return fmt.Sprintf("%s (error: %s)", name, run.Message(n.err))
	default:
		return name
	}
}
