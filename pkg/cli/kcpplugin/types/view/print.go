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
	nothing    = "-"
	everything = "any"
)

// section is a title and rows of a few columns.
type section struct {
	title string
	rows  [][]string
}

// Print shows the view to people.
func (v *View) Print(w io.Writer, d display.Display) error {
	sections := []section{
		{"extends", v.extends()},
		{"initializers", hookRows(v.Initializers)},
		{"terminators", hookRows(v.Terminators)},
		{"bindings", v.bindingRows(d)},
		{"parents", limitRows(v.Parents)},
		{"children", limitRows(v.Children)},
		{"default child", [][]string{{cmp.Or(v.DefaultChild, nothing)}}},
	}
	if len(v.Labels) > 0 {
		sections = append(sections, section{"labels", labelRows(v.Labels)})
	}
	if len(v.AuthenticationConfigurations) > 0 {
		sections = append(sections, section{"authentication", [][]string{{strings.Join(v.AuthenticationConfigurations, ", ")}}})
	}
	if v.Use != nil {
		sections = append(sections, section{"may use", v.Use.rows(d)})
	}
	if len(v.VirtualWorkspaces) > 0 {
		sections = append(sections, section{"controllers at", v.addressRows()})
	}
	if _, err := fmt.Fprintf(w, "%s%s\n\n", display.Pad("type", titleCells), d.Style(display.Strong, d.Cut(display.Line(v.Type), room(d)))); err != nil {
		return err
	}
	for _, s := range sections {
		if err := s.print(w, d); err != nil {
			return err
		}
	}
	return nil
}

// room returns how many cells there are beside the titles, 0 if there is no end to them.
func room(d display.Display) int {
	if d.Width == 0 {
		return 0
	}
	return max(1, d.Width-titleCells)
}

// print writes a section: its rows are a table without titles, which shrinks by itself.
func (s section) print(w io.Writer, d display.Display) error {
	beside := d
	beside.Width = room(d)
	columns := make([]table.Column, 0, 3)
	for i := range len(s.rows[0]) {
		shrink := table.Cut
		if i == 2 {
			shrink = table.Drop
		}
		columns = append(columns, table.Column{Shrink: shrink})
	}
	rows := table.New(beside, columns...)
	rows.NoHeaders = true
	for _, row := range s.rows {
		rows.Row(row...)
	}
	var text strings.Builder
	if err := rows.Print(&text); err != nil {
		return err
	}
	title := s.title
	for line := range strings.Lines(text.String()) {
		if _, err := io.WriteString(w, display.Pad(title, titleCells)+line); err != nil {
			return err
		}
		title = ""
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
		role, text = display.Failed, "failed: the export is not there"
	case b.MayBind == No:
		role, text = display.Failed, "failed: you may not bind it"
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
