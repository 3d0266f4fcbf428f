package model

import (
	"fmt"
	"slices"
	"strings"

	"github.com/forkless/kcp/pkg/cli/display"
)

const (
	prompt = "> "
	// gaps between the columns.
	gapType, gapStage, gapPin = 5, 2, 3
	// leastPath is how narrow the paths get before what stands beside them goes.
	leastPath = 24
)

// View returns the lines of the picker, and in which cell of the first one the cursor is.
func (m *Model) View(d display.Display) (lines []string, cursor int) {
	query := d.Cut(m.query, max(d.Width-len(prompt)-1, min(d.Width, 1)))
	lines = append(lines, prompt+query)
	shown := m.matches[m.first:min(m.first+rows, len(m.matches))]
	columns := m.columns(shown, d)
	for i, match := range shown {
		lines = append(lines, m.row(match, m.first+i == m.selected, columns, d))
	}
	lines = append(lines, d.CutEnd(m.status(d), d.Width))
	return lines, len(prompt) + display.Cells(query)
}

// columns are how wide things are, 0 for what is not shown.
type columns struct {
	path, kind int
	stage      bool
}

// columns returns what there is room for: types go first, then stages, and paths are cut
// last.
func (m *Model) columns(shown []Match, d display.Display) columns {
	var c columns
	stage := 0
	for _, match := range shown {
		c.path = max(c.path, display.Cells(match.Path))
		c.kind = max(c.kind, display.Cells(match.Type))
		stage = max(stage, display.Cells(match.Stage))
	}
	c.stage = stage > 0
	if d.Width == 0 {
		return c
	}
	room := d.Width - display.Cells(cursorOf(d)) - 1
	path := min(c.path, leastPath)
	if path+gapType+c.kind+gapStage+stage > room {
		c.kind = 0
	}
	if path+gapType+stage > room {
		c.stage, c.kind = false, 0
	}
	used := 0
	if c.stage {
		used += stage + gapType
	}
	if c.kind > 0 {
		used += c.kind + gapStage
	}
	c.path = max(min(c.path, room-used), 1)
	return c
}

func cursorOf(d display.Display) string { return d.Glyphs().Cursor }

// row returns the line of a match.
func (m *Model) row(match Match, selected bool, c columns, d display.Display) string {
	mark := strings.Repeat(" ", display.Cells(cursorOf(d)))
	if selected {
		mark = cursorOf(d)
	}
	path := d.Cut(match.Path, c.path)
	padding := strings.Repeat(" ", max(c.path-display.Cells(path), 0))
	if path == match.Path {
		path = highlighted(path, match.Positions, d)
	}
	line := mark + " " + path
	if c.kind > 0 || c.stage {
		line += padding + strings.Repeat(" ", gapType)
	}
	if c.kind > 0 {
		line += display.Pad(match.Type, c.kind) + strings.Repeat(" ", gapStage)
	}
	if c.stage {
		line += d.Style(match.Role, match.Stage)
	}
	line = strings.TrimRight(line, " ")
	if match.Pin == "" {
		return line
	}
	pin := strings.Repeat(" ", gapPin) + "@" + match.Pin
	if d.Width > 0 && display.Cells(line+pin) > d.Width {
		return line
	}
	return line + pin
}

// highlighted returns path with what was typed standing out.
func highlighted(path string, positions []int, d display.Display) string {
	if !d.Color || len(positions) == 0 {
		return path
	}
	var b strings.Builder
	for i := 0; i < len(path); {
		end := i
		found := slices.Contains(positions, i)
		for end < len(path) && slices.Contains(positions, end) == found {
			end++
		}
		if found {
			b.WriteString(d.Style(display.Strong, path[i:end]))
		} else {
			b.WriteString(path[i:end])
		}
		i = end
	}
	return b.String()
}

// status returns the last line.
func (m *Model) status(d display.Display) string {
	count := fmt.Sprintf("%d of %d", len(m.matches), m.candidates.Len())
	if !m.complete {
		count += d.Glyphs().Ellipsis
	}
	does := "switch"
	if m.options.Print {
		does = "print"
	}
	parts := []string{count}
	if m.trouble != "" {
		parts = append(parts, m.trouble)
	}
	parts = append(parts, "enter "+does)
	if m.options.Tree {
		parts = append(parts, "ctrl+t tree")
	}
	parts = append(parts, "esc leave")
	return "  " + strings.Join(parts, "   ")
}
