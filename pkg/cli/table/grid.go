package table

import (
	"slices"
	"strings"

	"github.com/forkless/kcp/pkg/cli/display"
)

// minCells is how narrow a name may get before what must stay is cut, too.
const minCells = 8

// grid is a table while it is made to fit: the titles are a row like others.
type grid struct {
	columns []Column
	rows    [][]string
	widths  []int
}

func newGrid(t *Table) *grid {
	g := &grid{columns: slices.Clone(t.columns)}
	if !t.NoHeaders {
		titles := make([]string, 0, len(t.columns))
		for _, column := range t.columns {
			titles = append(titles, column.Title)
		}
		g.rows = append(g.rows, titles)
	}
	for _, row := range t.rows {
		g.rows = append(g.rows, slices.Clone(row))
	}
	g.measure()
	return g
}

// measure finds out how wide the columns are.
func (g *grid) measure() {
	g.widths = make([]int, len(g.columns))
	for _, row := range g.rows {
		for i, cell := range row {
			g.widths[i] = max(g.widths[i], display.Cells(cell))
		}
	}
}

// width returns how many cells the longest line takes.
func (g *grid) width() int {
	total := gap * (len(g.widths) - 1)
	for _, w := range g.widths {
		total += w
	}
	return total
}

// shrink makes the table fit onto the display.
func (g *grid) shrink(d display.Display) {
	g.dropAll(d, Drop)
	for i := 0; i < len(g.columns) && g.width() > d.Width; i++ {
		if g.columns[i].Shrink == Unqualify {
			g.unqualify(i)
		}
	}
	g.narrow(d, minCells, func(c Column) bool { return c.Shrink == Cut })
	if slices.ContainsFunc(g.columns, func(c Column) bool { return c.Shrink == Whole }) {
		g.dropAll(d, Cut)
	}
	for _, least := range []int{minCells, 1} {
		g.narrow(d, least, func(c Column) bool { return c.Shrink != Whole })
	}
	for _, row := range g.rows {
		for i, cell := range row {
			row[i] = d.Cut(cell, g.widths[i])
		}
	}
}

// dropAll drops the columns of a kind, the last one first, until the table fits.
func (g *grid) dropAll(d display.Display, kind Shrink) {
	for i := len(g.columns) - 1; i >= 0 && g.width() > d.Width; i-- {
		if g.columns[i].Shrink == kind && len(g.columns) > 1 {
			g.drop(i)
		}
	}
}

func (g *grid) drop(column int) {
	g.columns = slices.Delete(g.columns, column, column+1)
	for i, row := range g.rows {
		g.rows[i] = slices.Delete(row, column, column+1)
	}
	g.measure()
}

func (g *grid) unqualify(column int) {
	for _, row := range g.rows {
		row[column] = row[column][strings.LastIndex(row[column], ":")+1:]
	}
	g.measure()
}

// narrow takes cells from the widest of the columns that may be cut, until the table fits
// or none is wider than least.
func (g *grid) narrow(d display.Display, least int, may func(Column) bool) {
	for excess := g.width() - d.Width; excess > 0; excess-- {
		widest := -1
		for i, column := range g.columns {
			if may(column) && g.widths[i] > least && (widest < 0 || g.widths[i] > g.widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		g.widths[widest]--
	}
}

// line returns a row as it is written.
func (g *grid) line(row []string) string {
	var b strings.Builder
	for i, cell := range row {
		if i < len(row)-1 {
			cell = display.Pad(cell, g.widths[i]+gap)
		}
		b.WriteString(cell)
	}
	return strings.TrimRight(b.String(), " ")
}
