package view

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/forkless/kcp/pkg/cli/display"
	"github.com/forkless/kcp/pkg/cli/table"
)

const (
	// titleCells is how wide the titles are, which stand before what they are about.
	titleCells = 16
	// stackedBelow is how wide a terminal is on which they stand above it, and indent how
	// far that is to the right then.
	stackedBelow = 60
	indent       = 2

	nothing    = "-"
	everything = "any"
)

// section is a title and rows of a few columns.
type section struct {
	title string
	rows  [][]string
	// columns say what happens to them on a narrow terminal.
	columns []table.Shrink
}

// The columns of sections.
var (
	plain     = []table.Shrink{table.Cut}
	explained = []table.Shrink{table.Cut, table.Drop}
	told      = []table.Shrink{table.Cut, table.Cut}
	located   = []table.Shrink{table.Keep, table.Cut}
	bound     = []table.Shrink{table.Cut, table.Keep, table.Drop}
)

// Print shows the view to people.
func (v *View) Print(w io.Writer, d display.Display) error {
	if _, err := fmt.Fprintf(w, "%s%s\n\n", display.Pad("type", titleCells), d.Style(display.Strong, d.Cut(display.Line(v.Type), beside(d, titleCells)))); err != nil {
		return err
	}
	for _, s := range v.sections(d) {
		if err := s.print(w, d); err != nil {
			return err
		}
	}
	return nil
}

// sections returns what there is to tell.
func (v *View) sections(d display.Display) []section {
	sections := []section{
		{"extends", v.extends(), explained},
		{"initializers", hookRows(v.Initializers), explained},
		{"terminators", hookRows(v.Terminators), explained},
		{"bindings", v.bindingRows(d), bound},
		{"parents", limitRows(v.Parents), explained},
		{"children", limitRows(v.Children), explained},
		{"default child", [][]string{{cmp.Or(v.DefaultChild, nothing)}}, plain},
	}
	if len(v.Labels) > 0 {
		sections = append(sections, section{"labels", labelRows(v.Labels), plain})
	}
	if len(v.AuthenticationConfigurations) > 0 {
		sections = append(sections, section{"authentication", [][]string{{strings.Join(v.AuthenticationConfigurations, ", ")}}, plain})
	}
	if v.Use != nil {
		sections = append(sections, section{"may use", v.Use.rows(d), told})
	}
	if len(v.VirtualWorkspaces) > 0 {
		sections = append(sections, section{"controllers at", v.addressRows(), located})
	}
	return sections
}

// beside returns how many cells there are to the right of so many, 0 if there is no end
// to them.
func beside(d display.Display, cells int) int {
	if d.Width == 0 {
		return 0
	}
	return max(1, d.Width-cells)
}

// print writes a section: its rows are a table without titles, which shrinks by itself.
func (s section) print(w io.Writer, d display.Display) error {
	left, title := titleCells, display.Pad(s.title, titleCells)
	if d.Width > 0 && d.Width < stackedBelow {
		left, title = indent, s.title+"\n"+display.Pad("", indent)
	}
	d.Width = beside(d, left)
	columns := make([]table.Column, 0, len(s.columns))
	for _, shrink := range s.columns {
		columns = append(columns, table.Column{Shrink: shrink})
	}
	rows := table.New(d, columns...)
	rows.NoHeaders = true
	for _, row := range s.rows {
		rows.Row(row...)
	}
	var text strings.Builder
	// A Builder takes everything.
	_ = rows.Print(&text)
	for line := range strings.Lines(text.String()) {
		if _, err := io.WriteString(w, title+line); err != nil {
			return err
		}
		title = display.Pad("", left)
	}
	return nil
}

func (v *View) extends() [][]string {
	var rows [][]string
	for _, base := range v.Extends {
		how := ""
		if !base.Direct {
			how = "indirectly"
		}
		rows = append(rows, []string{base.Type, how})
	}
	return orNothing(rows, nothing)
}

func hookRows(hooks []Hook) [][]string {
	var rows [][]string
	for _, h := range hooks {
		switch {
		case h.Type == "":
			rows = append(rows, []string{h.ID, "the server itself"})
		case len(h.Rules) == 0:
			rows = append(rows, []string{h.Type, "acts as the creator"})
		default:
			rows = append(rows, []string{h.Type, fmt.Sprintf("access by rules (%d)", len(h.Rules))})
		}
	}
	return orNothing(rows, nothing)
}

func (v *View) bindingRows(d display.Display) [][]string {
	var rows [][]string
	for _, b := range v.Bindings {
		from := ""
		if b.From != v.Type {
			from = "from " + b.From
		}
		rows = append(rows, []string{b.Path + ":" + b.Export, b.state(d), from})
	}
	return orNothing(rows, nothing)
}

// state says whether the binding will come to be.
func (b Binding) state(d display.Display) string {
	role, text := display.OK, "ok"
	switch {
	case b.Found == No:
		role, text = display.Failed, "failed: not found"
	case b.MayBind == No:
		role, text = display.Failed, "failed: you may not"
	case b.MayBind == Unknown:
		role, text = display.Unknown, "unknown"
	case b.Found == Unknown:
		role, text = display.OK, "you may bind it"
	}
	if b.Maintained {
		text += ", maintained"
	}
	return d.Style(role, text)
}

func limitRows(limits []Limit) [][]string {
	var rows [][]string
	for _, l := range limits {
		types := strings.Join(l.Types, ", ")
		if l.None || types == "" {
			types = "none"
		}
		rows = append(rows, []string{types, "says " + l.From})
	}
	return orNothing(rows, everything)
}

func labelRows(labels map[string]string) [][]string {
	var rows [][]string
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		rows = append(rows, []string{key + "=" + labels[key]})
	}
	return rows
}

func (u *Use) rows(d display.Display) [][]string {
	role := map[Answer]display.Role{Yes: display.OK, No: display.Failed, Unknown: display.Unknown}[u.You]
	you := string(u.You)
	if len(u.Lacking) > 0 {
		you += ": verb use is missing on " + strings.Join(u.Lacking, ", ")
	}
	rows := [][]string{{"you", d.Style(role, you)}}
	for _, s := range u.Subjects {
		rows = append(rows, []string{strings.ToLower(s.Kind) + " " + s.Name, "by " + s.Binding})
	}
	if !u.Readable {
		rows = append(rows, []string{"others", d.Style(display.Unknown, "unknown: you may not read the roles there")})
	}
	return rows
}

func (v *View) addressRows() [][]string {
	var rows [][]string
	for _, address := range v.VirtualWorkspaces {
		rows = append(rows, []string{string(address.Type), address.URL})
	}
	return rows
}

// orNothing returns rows, or one that says that there are none.
func orNothing(rows [][]string, none string) [][]string {
	if len(rows) == 0 {
		return [][]string{{none}}
	}
	return rows
}
