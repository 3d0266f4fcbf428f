package model

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/forkless/kcp/pkg/cli/display"
)

// columnSet is which columns there are beside the names.
type columnSet int

const (
	typeAndState columnSet = iota
	typeAgeAndState
	clusterAndState
	stateOnly
	columnSets
)

func (m *Model) keyColumns() []Command {
	m.columns = (m.columns + 1) % columnSets
	m.widest, m.widestKind = 0, 0
	return nil
}

// position says which rows are on the screen, if not all are.
func (m *Model) position() string {
	rows := len(m.tree.visible())
	if rows <= m.page() {
		return ""
	}
	return fmt.Sprintf("%d to %d of %d", m.offset+1, min(rows, m.offset+m.page()), rows)
}

// rowLines draws the rows on the screen.
func (m *Model) rowLines(width, height int) []string {
	rows := m.tree.visible()
	first := min(m.offset, len(rows))
	shown := rows[first:min(len(rows), first+height)]
	for _, n := range shown {
		m.widest = max(m.widest, m.indent(n)+2+cells(m.name(n)))
		m.widestKind = max(m.widestKind, cells(m.kind(n)))
	}
	arranged := m.arrange(width)
	lines := make([]string, 0, height)
	for _, n := range shown {
		lines = append(lines, m.row(n, arranged))
	}
	if len(rows) == 0 {
		lines = append(lines, m.style(faint, "  nothing matches"))
	}
	for len(lines) < height {
		lines = append(lines, "")
	}
	for i := range lines {
		lines[i] = m.fit(lines[i], width)
	}
	return lines
}

// layout says where columns begin.
type layout struct {
	// labels is how wide marks and names are together.
	labels int
	// between are the columns between names and states.
	between []column
	// oneCell says that there is room for one character of state.
	oneCell bool
}

// column is a column of the tree.
type column struct {
	width int
	of    func(*Model, *node) string
}

// arrange decides about columns for a width. Where it is not enough for all, kinds and
// ages get what they need and no more, and then names are cut.
func (m *Model) arrange(width int) layout {
	kind, age := column{width: 15, of: (*Model).kind}, column{width: 7, of: func(m *Model, n *node) string { return m.age(n.Created) }}
	stateWidth, least := 12, 19
	switch {
	case m.width < middleWidth:
		return layout{labels: width - 2, oneCell: true}
	case m.width < 76:
		kind.width, stateWidth, least = 9, 11, 20
	case width > 70:
		kind.width, stateWidth = 20, 24
	}
	if m.columns == clusterAndState {
		kind = column{width: 18, of: func(_ *Model, n *node) string { return n.Cluster }}
	}
	wanted := max(m.widest+2, least)
	if m.columns != stateOnly && wanted+kind.width+stateWidth > width || m.columns == typeAgeAndState && wanted+kind.width+age.width+stateWidth > width {
		kind.width, age.width = min(kind.width, max(m.widestKind+2, 6)), 5
	}
	var l layout
	switch m.columns {
	case typeAndState, clusterAndState:
		l.between = []column{kind}
	case typeAgeAndState:
		l.between = []column{kind, age}
	}
	taken := stateWidth
	for _, c := range l.between {
		taken += c.width
	}
	l.labels = min(wanted, max(12, width-taken))
	return l
}

// indent is the cell of the mark before a name.
func (m *Model) indent(n *node) int {
	if m.twoPanes() {
		return 2 + 2*n.depth
	}
	return max(2, 1+2*n.depth)
}

func (m *Model) name(n *node) string {
	if n.home && n.Name == "" {
		return n.title(m.o.User)
	}
	return n.label()
}

// mark is the character before a name.
func (m *Model) mark(n *node) string {
	g := m.g()
	switch {
	case n.load == denied:
		return g.Denied
	case n.home:
		return g.home
	case n.leaf():
		return " "
	case n.open:
		return g.Open
	default:
		return g.Closed
	}
}

// row draws one row.
func (m *Model) row(n *node, l layout) string {
	cursor := "  "
	if n == m.cursor {
		cursor = m.g().rowCursor
	}
	indent := min(m.indent(n), max(2, l.labels-10))
	name := m.cut(m.name(n), l.labels-indent-3)
	line := cursor + strings.Repeat(" ", indent-2) + m.mark(n) + " " + m.paint(m.nameRole(n), name)
	end := l.labels
	for _, c := range l.between {
		line = pad(line, end) + m.paint(plain, m.cutEnd(c.of(m, n), c.width-1))
		end += c.width
	}
	return pad(line, end) + m.state(n, l.oneCell)
}

// nameRole is how a name stands out.
func (m *Model) nameRole(n *node) display.Role {
	switch {
	case n.flash.After(m.now):
		return reverse
	case m.here(n):
		return current
	case n == m.cursor:
		return strong
	default:
		return plain
	}
}

// paint styles text of a row: faint while nobody knows whether it is still true.
func (m *Model) paint(role display.Role, s string) string {
	if state, _ := m.connection(); state == reconnecting && role != reverse {
		role = faint
	}
	return m.style(role, s)
}

// short are the types that everybody has, as they are written where room is scarce.
var short = map[string]string{"organization": "org", "universal": "univ"}

// kind is what is in the first column.
func (m *Model) kind(n *node) string {
	if n.Mount != "" {
		return n.Mount
	}
	if n.home && n.Type == "" {
		return "home"
	}
	kind := typeName(n.Type)
	if m.width < 76 {
		return cmp.Or(short[kind], kind)
	}
	return kind
}

// state is the last column: a few words, or one character.
func (m *Model) state(n *node, oneCell bool) string {
	g := m.g()
	word, role := m.phaseShort(n)
	if oneCell {
		switch {
		case word != "" && n.load == denied:
			return m.paint(role, g.Denied)
		case word != "":
			return m.paint(role, g.wait)
		case m.here(n):
			return m.paint(current, g.Here)
		case m.marked[n.Cluster]:
			return m.paint(strong, g.bound)
		}
		return ""
	}
	var words []string
	if m.here(n) {
		words = append(words, m.paint(current, g.Here+" here"))
	}
	if n.Cluster != "" && m.marked[n.Cluster] {
		words = append(words, m.paint(strong, g.bound+" bound"))
	}
	if word != "" {
		words = append(words, m.paint(role, word))
	}
	return strings.Join(words, " ")
}

func (m *Model) here(n *node) bool { return !n.Path.Empty() && n.Path == m.o.Current }

// phaseShort is what there is to say about a workspace that is not as it should be.
func (m *Model) phaseShort(n *node) (string, display.Role) {
	wait := " " + m.g().wait
	age := ""
	if !n.Since.IsZero() {
		age = " " + m.age(n.Since)
	}
	switch {
	case n.load == denied:
		return "no access", unknownRole
	case n.load == broken:
		return "error" + wait, failedRole
	case n.settled():
		return "", plain
	case n.Mount != "":
		return n.Phase, waitingRole
	}
	switch n.Phase {
	case phaseScheduling:
		return "Sched" + age + wait, waitingRole
	case phaseInitializing:
		return "Init" + age + wait, waitingRole
	case PhaseTerminating, phaseDeleting:
		return "Term" + age + wait, warningRole
	case phaseUnavailable:
		return "Unavail" + wait, failedRole
	case phaseInactive:
		return "Inactive" + wait, warningRole
	}
	return n.Phase + wait, waitingRole
}

// phaseWord is the phase of a workspace, with how long it has lasted if it should not.
func (m *Model) phaseWord(i *Item) string {
	switch {
	case i.Phase == "":
		return ""
	case i.settled():
		return m.style(okRole, i.Phase)
	case i.Since.IsZero():
		return m.style(waitingRole, i.Phase)
	default:
		return m.style(waitingRole, i.Phase+" "+m.age(i.Since))
	}
}

// remark is one line about the cursor where there is no room for more: its own trouble,
// or that of the first workspace below it which has any.
func (m *Model) remark() string {
	n := m.cursor
	if n == nil {
		return ""
	}
	if text := m.trouble(n); text != "" {
		return text
	}
	if row, ok := m.tree.rowOf(n); ok {
		rows := m.tree.visible()
		for _, below := range rows[row+1 : min(len(rows), row+1+m.page())] {
			if below.depth <= n.depth {
				break
			}
			if text := m.trouble(below); text != "" {
				return text
			}
		}
	}
	facts := []string{m.name(n)}
	if n.Type != "" {
		facts = append(facts, n.Type)
	}
	if n.Phase != "" {
		facts = append(facts, n.Phase)
	}
	if !n.Created.IsZero() {
		facts = append(facts, m.age(n.Created)+" old")
	}
	return strings.Join(facts, "  ")
}

// trouble says what is wrong with a workspace, "" if nothing is.
func (m *Model) trouble(n *node) string {
	switch {
	case n.load == denied:
		return m.name(n) + ": no access"
	case n.problem != "":
		return m.name(n) + ": " + n.problem
	case n.settled():
		return ""
	}
	text := m.name(n) + ": " + n.Phase
	if !n.Since.IsZero() {
		text += " " + m.age(n.Since)
	}
	if n.Reason != "" {
		text += ", " + n.Reason
	}
	return text
}
