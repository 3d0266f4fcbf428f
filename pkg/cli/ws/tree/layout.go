package tree

import (
	"fmt"

	"github.com/forkless/kcp/pkg/cli/display"
	"github.com/forkless/kcp/pkg/cli/run"
)

// row is a line of the drawing: a workspace or something in it, with the strokes that
// lead there.
type row struct {
	strokes string
	// text is what may be cut, note what follows it.
	text, note string
	// node is the workspace, nil for what is in one.
	node *node
}

// layOut returns n and everything below it from top to bottom.
func (s *sketch) layOut(top *node) []row {
	glyphs := s.display.Glyphs()
	var rows []row
	var add func(n *node, indent string, last bool)
	add = func(n *node, indent string, last bool) {
		stroke, below := glyphs.Child, glyphs.Through
		if last {
			stroke, below = glyphs.LastChild, glyphs.None
		}
		rows = append(rows, row{strokes: indent + stroke, text: s.name(n), note: note(n), node: n})
		leaves := s.leaves(n)
		for i, leaf := range leaves {
			stroke := glyphs.Child
			if i == len(leaves)-1 && len(n.children) == 0 {
				stroke = glyphs.LastChild
			}
			rows = append(rows, row{strokes: indent + below + stroke, text: leaf})
		}
		for i, child := range n.children {
			add(child, indent+below, i == len(n.children)-1)
		}
	}
	add(top, "", true)
	return rows
}

// name returns what stands for a workspace. A mounted one is where its Workspace is.
func (s *sketch) name(n *node) string {
	if s.full {
		return n.Path.String()
	}
	return n.Name
}

// note returns what is said about a workspace behind its name.
func note(n *node) string {
	switch {
	case n.Mount():
		return " [m]"
	case n.Forbidden:
		return " (no access)"
	case n.Err != nil:
		return fmt.Sprintf(" (error: %s)", run.Message(n.Err))
	case n.Hidden > 0:
		return fmt.Sprintf(" (+%d)", n.Hidden)
	default:
		return ""
	}
}

// leastText is how many cells of a name are worth showing.
const leastText = 6

// label returns the strokes, the text and the note in at most that many cells, 0 for no
// limit. The text is cut first, for what is drawn says where it belongs.
func (r row) label(d display.Display, cells int) string {
	text := cells - display.Cells(r.strokes) - display.Cells(r.note)
	if cells == 0 || text < min(display.Cells(r.text), leastText) {
		return d.CutEnd(r.strokes+r.text+r.note, cells)
	}
	return r.strokes + d.Cut(r.text, text) + r.note
}

func (r row) cells() int { return display.Cells(r.strokes + r.text + r.note) }

// least is how narrow the row can get and still say which workspace it is.
func (r row) least() int {
	return display.Cells(r.strokes) + min(display.Cells(r.text), leastText)
}
