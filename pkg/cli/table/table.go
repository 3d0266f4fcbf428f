// Package table writes rows in aligned columns, as kubectl does. On a terminal a table
// that is too wide shrinks, in this order, and only as far as it has to:
//
//  1. columns that can be done without go, the last one first
//  2. qualified names lose what qualifies them
//  3. names are cut in the middle, the widest column first
//  4. what must stay is cut as well, for a table that wraps cannot be read at all
//
// Only what is typed again, as it stands there, is never cut. Where there is such a column
// names that would be cut to nearly nothing go before what must stay is cut.
//
// Off a terminal nothing is cut. Cells come from servers: control characters in them are
// replaced.
package table

import (
	"io"
	"strings"

	"github.com/forkless/kcp/pkg/cli/display"
)

// gap is how many cells are between two columns.
const gap = 3

// Shrink says what may happen to a column that does not fit.
type Shrink int

// What may happen to a column.
const (
	// Keep is cut only if everything else was of no use.
	Keep Shrink = iota
	// Drop goes first: a URL, an age.
	Drop
	// Unqualify loses what stands before the last colon: a type its path.
	Unqualify
	// Cut is cut in the middle: a name.
	Cut
	// Whole is never cut: an identifier that is of no use without its end.
	Whole
)

// Column is a column of a table.
type Column struct {
	// Title stands above it.
	Title string
	// Shrink says what happens to it on a narrow terminal.
	Shrink Shrink
}

// Table is rows in columns.
type Table struct {
	// NoHeaders leaves out the titles.
	NoHeaders bool

	display display.Display
	columns []Column
	rows    [][]string
}

// New returns a table without rows.
func New(d display.Display, columns ...Column) *Table {
	return &Table{display: d, columns: columns}
}

// Row adds a row. A cell may be styled by the Display of the table; cells beyond the
// columns are dropped, missing ones are empty.
func (t *Table) Row(cells ...string) {
	row := make([]string, len(t.columns))
	for i := range min(len(cells), len(row)) {
		row[i] = clean(t.display, cells[i])
	}
	t.rows = append(t.rows, row)
}

// Len returns how many rows there are.
func (t *Table) Len() int { return len(t.rows) }

// Print writes the table.
func (t *Table) Print(w io.Writer) error {
	var b strings.Builder
	for _, row := range t.fit() {
		b.WriteString(row + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// fit returns the lines of the table.
func (t *Table) fit() []string {
	g := newGrid(t)
	if t.display.Width > 0 {
		g.shrink(t.display)
	}
	lines := make([]string, 0, len(g.rows))
	for _, row := range g.rows {
		lines = append(lines, g.line(row))
	}
	return lines
}

// clean replaces the control characters of a cell, but for the colors of the display.
func clean(d display.Display, cell string) string {
	if !d.Color || !strings.Contains(cell, "\x1b[") {
		return display.Line(cell)
	}
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(cell, "\x1b[")
		b.WriteString(display.Line(before))
		if !found {
			return b.String()
		}
		parameters, after, ended := strings.Cut(rest, "m")
		if !ended || strings.Trim(parameters, "0123456789;") != "" {
			b.WriteString(display.Line("\x1b["))
			cell = rest
			continue
		}
		b.WriteString("\x1b[" + parameters + "m")
		cell = after
	}
}
