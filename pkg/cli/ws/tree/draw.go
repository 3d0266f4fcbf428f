package tree

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/forkless/kcp/pkg/cli/display"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/ws/stage"
)

// leastCell is how narrow the last column of a drawing gets before names are cut.
const leastCell = 8

// sketch is how to draw a tree. It is pure.
type sketch struct {
	display display.Display
	// full shows paths instead of names; wide, status and bindings are the columns and
	// leaves that the flags of the same names add.
	full, wide, status, bindings bool
	more                         *more
	now                          time.Time
}

// column is cells beside the tree. Each has its own gap to what stands before it.
type column struct {
	gap int
	// weight says how important it is: without room, the least important one goes first.
	weight int
	cell   func(*node) string
	style  func(*node, string) string
	width  int
}

// draw returns the lines of the tree below top.
func (s *sketch) draw(top *node) []string {
	rows := s.layOut(top)
	columns := s.columns(rows)
	labels, least := 0, 0
	for _, r := range rows {
		if r.node != nil {
			labels, least = max(labels, r.cells()), max(least, r.least())
		}
	}
	if s.display.Width > 0 {
		labels, columns = shrink(labels, least, columns, s.display.Width)
	}
	lines := []string{"."}
	for _, r := range rows {
		lines = append(lines, s.line(r, labels, columns))
	}
	return lines
}

// columns returns those that are asked for, as wide as their widest cell.
func (s *sketch) columns(rows []row) []column {
	var columns []column
	if s.wide {
		columns = append(columns,
			column{gap: 2, weight: 2, cell: func(n *node) string { return "ws=" + cmp.Or(n.Phase(), "-") }},
			column{gap: 2, weight: 1, cell: s.clusterPhase})
	}
	if s.status {
		columns = append(columns, column{gap: 3, cell: kindOf}, column{gap: 3, weight: 3, cell: s.stage, style: s.styled})
	}
	for i := range columns {
		for _, r := range rows {
			if r.node != nil {
				columns[i].width = max(columns[i].width, display.Cells(columns[i].cell(r.node)))
			}
		}
	}
	return columns
}

func (s *sketch) clusterPhase(n *node) string {
	if phase := s.more.phase(n.Node); phase != "" {
		return "lc=" + phase
	}
	return ""
}

func kindOf(n *node) string {
	if n.Workspace == nil {
		return ""
	}
	return display.Line(stage.Type(n.Workspace))
}

// stage says how far a workspace is, unless it is ready, which most are.
func (s *sketch) stage(n *node) string {
	if n.Workspace == nil {
		return ""
	}
	if at := stage.Of(n.Workspace); !at.Settled() {
		return at.Long(s.now)
	}
	return ""
}

func (s *sketch) styled(n *node, text string) string {
	return s.display.Style(stage.Of(n.Workspace).Role(), text)
}

// shrink makes columns and labels fit into width cells, and returns them: columns for
// which there is no room at all go, then the last one, which is prose, gives way, then the
// names.
func shrink(labels, least int, columns []column, width int) (int, []column) {
	for len(columns) > 0 && least+narrowest(columns) > width {
		least := slices.MinFunc(columns, func(a, b column) int { return a.weight - b.weight })
		columns = slices.DeleteFunc(columns, func(c column) bool { return c.weight == least.weight })
	}
	excess := labels - width
	for _, c := range columns {
		excess += c.gap + c.width
	}
	take := func(from *int, least int) {
		taken := min(max(excess, 0), max(*from-least, 0))
		*from -= taken
		excess -= taken
	}
	if len(columns) > 0 {
		take(&columns[len(columns)-1].width, leastCell)
	}
	take(&labels, 1)
	return labels, columns
}

// narrowest returns how many cells columns take at least.
func narrowest(columns []column) int {
	total := 0
	for i, c := range columns {
		if i == len(columns)-1 {
			c.width = min(c.width, leastCell)
		}
		total += c.gap + c.width
	}
	return total
}

// line returns a row as it is written.
func (s *sketch) line(r row, labels int, columns []column) string {
	var b strings.Builder
	if r.node == nil {
		return r.label(s.display, s.display.Width)
	}
	label := r.label(s.display, limit(s.display, labels))
	b.WriteString(label)
	missing := labels - display.Cells(label)
	for _, c := range columns {
		cell := s.display.CutEnd(c.cell(r.node), limit(s.display, c.width))
		if cell == "" {
			missing += c.gap + c.width
			continue
		}
		b.WriteString(strings.Repeat(" ", max(missing, 0)+c.gap))
		missing = c.width - display.Cells(cell)
		if c.style != nil {
			cell = c.style(r.node, cell)
		}
		b.WriteString(cell)
	}
	return b.String()
}

// limit is n where lines are cut, and no limit elsewhere.
func limit(d display.Display, n int) int {
	if d.Width == 0 {
		return 0
	}
	return n
}

// leaves returns a line for each export and binding in a workspace.
func (s *sketch) leaves(n *node) []string {
	if !s.bindings {
		return nil
	}
	var leaves []string
	found := s.more.apis[n.Node]
	for _, export := range found.exports {
		leaves = append(leaves, "export "+export.Name)
	}
	for _, binding := range found.bindings {
		leaf := fmt.Sprintf("binding %s %s %s", binding.Name, s.display.Glyphs().Arrow, exportOf(binding, n.Path))
		if phase := string(binding.Status.Phase); phase != "Bound" {
			leaf += " (" + cmp.Or(phase, "Binding") + ")"
		}
		leaves = append(leaves, leaf)
	}
	if found.err != nil {
		leaves = append(leaves, fmt.Sprintf("(error: %s)", run.Message(found.err)))
	}
	return leaves
}
