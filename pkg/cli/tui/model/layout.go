package model

import "strings"

// The sizes from which on there is room for more.
const (
	leastWidth, leastHeight = 30, 6
	middleWidth             = 60
	twoPaneWidth            = 100
)

func (m *Model) tooSmall() bool {
	return m.width > 0 && (m.width < leastWidth || m.height < leastHeight)
}

func (m *Model) twoPanes() bool { return m.width >= twoPaneWidth && m.height >= leastHeight }

// treeWidth is the width of the left of two panes, with its borders.
func (m *Model) treeWidth() int { return m.width * 48 / 100 }

// bodyHeight is how many lines there are between the header and the keys.
func (m *Model) bodyHeight() int { return max(1, m.height-2) }

// page is how many rows of the tree are shown.
func (m *Model) page() int {
	switch {
	case m.height == 0:
		return 1
	case m.width >= middleWidth:
		// Two borders, or one line of details.
		return max(1, m.bodyHeight()-map[bool]int{true: 2, false: 1}[m.twoPanes()])
	default:
		return m.bodyHeight()
	}
}

// textWidth is the width of text in an overlay.
func (m *Model) textWidth() int { return max(20, m.width-4) }

// View returns the frame: as many lines as the terminal has, none of them wider.
func (m *Model) View() string {
	switch {
	case m.width == 0 || m.height == 0:
		return ""
	case m.tooSmall():
		return m.cutEnd("kcp: please make room, 30x6 at least", m.width)
	}
	lines := make([]string, 0, m.height)
	lines = append(lines, m.header())
	switch {
	case m.overlay != nil:
		lines = append(lines, m.overlayLines()...)
	case m.twoPanes():
		left := m.box("Workspaces", m.position(), m.rowLines(m.treeWidth()-2, m.bodyHeight()-2), m.treeWidth())
		width := m.width - m.treeWidth()
		right := m.box(m.detailsTitle(), "", m.detailLines(width-4, m.bodyHeight()-2), width)
		for i := range left {
			lines = append(lines, left[i]+right[i])
		}
	default:
		lines = append(lines, m.rowLines(m.width, m.page())...)
		if m.width >= middleWidth {
			lines = append(lines, m.fit(" "+m.old([]string{m.remark()})[0], m.width))
		}
	}
	lines = append(lines, m.footer())
	if m.height < len(lines) {
		lines = lines[:m.height]
	}
	return strings.Join(lines, "\n")
}

// overlayLines are the body while there is an overlay.
func (m *Model) overlayLines() []string {
	height := m.bodyHeight() - 2
	title, lines := m.overlay.draw(m, m.width-4, max(1, height))
	return m.box(title, "", inset(lines), m.width)
}

// inset moves lines off the border.
func inset(lines []string) []string {
	moved := make([]string, len(lines))
	for i, line := range lines {
		moved[i] = " " + line
	}
	return moved
}

// box draws a border around lines, to the height of the body. note stands in its lower
// edge.
func (m *Model) box(title, note string, lines []string, width int) []string {
	g := m.g()
	inner := width - 2
	title = m.cut(title, inner-4)
	head := g.Rule + " " + title + " "
	if title == "" {
		head = ""
	}
	boxed := make([]string, 0, m.bodyHeight())
	boxed = append(boxed, g.topLeft+m.fill(head, inner)+g.topRight)
	for i := range max(0, m.bodyHeight()-2) {
		line := ""
		if i < len(lines) {
			line = lines[i]
		}
		boxed = append(boxed, g.vertical+m.fit(line, inner)+g.vertical)
	}
	foot := strings.Repeat(g.Rule, inner)
	if note != "" && len(note)+4 < inner {
		foot = strings.Repeat(g.Rule, inner-len(note)-3) + " " + note + " " + g.Rule
	}
	return append(boxed, g.bottomLeft+foot+g.bottomRight)
}

// fill continues head as a line.
func (m *Model) fill(head string, width int) string {
	return head + strings.Repeat(m.g().Rule, max(0, width-cells(head)))
}
