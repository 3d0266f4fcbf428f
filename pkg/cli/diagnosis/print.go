package diagnosis

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/forkless/kcp/pkg/cli/display"
)

const (
	// gap is between columns, wide between facts.
	gap  = "  "
	wide = "    "
	// stateCells is the width of the column of states, titleCells that of what stands
	// before the name of a workspace. Details begin below the end of the latter.
	stateCells = 7
	titleCells = 9
	indent     = titleCells + len(gap)
	// nameCells is how wide the names of checks are at least, so that messages stand
	// below each other from one subject to the next.
	nameCells = 17
	// remarkGap is between a command and what it does.
	remarkGap = "     "
)

// sheet is a diagnosis being written.
type sheet struct {
	*Diagnosis
	display display.Display
}

// Print writes the diagnosis for people. On a terminal long sentences go on in the next
// line and tables are cut; commands are left whole, so that they can be copied.
func (d *Diagnosis) Print(w io.Writer, look display.Display) {
	s := &sheet{Diagnosis: d, display: look}
	s.header(w)
	if len(s.Checks) > 0 && s.About != Initializer && s.About != Terminator {
		s.line(w, "")
	}
	s.checks(w)
	s.conclusion(w)
}

// header says what it is about.
func (s *sheet) header(w io.Writer) {
	subject := s.Subject
	if s.In != "" {
		subject += " in " + s.In
	}
	facts := slices.Clone(s.Facts)
	switch s.About {
	case Workspace:
		s.columns(w, display.Pad("workspace", titleCells)+gap, joined(subject, facts), 0, "")
		if s.Phase != "" {
			s.line(w, display.Pad("phase", titleCells)+gap+s.phase())
		}
		return
	case Binding:
		if s.Phase != "" {
			facts = append([]string{s.phase()}, facts...)
		}
	}
	label := s.About + " "
	if len(s.About) <= stateCells {
		label += " "
	}
	s.columns(w, label, joined(subject, facts), 0, "")
}

func joined(subject string, facts []string) string {
	return strings.Join(append([]string{subject}, facts...), wide)
}

func (s *sheet) phase() string {
	if age := s.age(s.Since); age != "" {
		return s.Phase + " for " + age
	}
	return s.Phase
}

// checks writes a line for each check, and its details below.
func (s *sheet) checks(w io.Writer) {
	names := nameCells
	for _, check := range s.Checks {
		if check.Message != "" {
			names = max(names, display.Cells(check.Name))
		}
	}
	for _, check := range s.Checks {
		s.columns(w, s.state(check.State, stateCells)+gap, check.Name, names, check.Message)
		if slices.ContainsFunc(check.Details, func(d Detail) bool { return d.Cluster != "" }) {
			s.table(w, check.Details)
		} else {
			s.details(w, check.Details)
		}
	}
}

// details writes what a check is about, in columns.
func (s *sheet) details(w io.Writer, details []Detail) {
	states, names := 0, 0
	for _, d := range details {
		states, names = max(states, len(d.State)), max(names, display.Cells(d.Name))
	}
	margin := strings.Repeat(" ", indent)
	for _, d := range details {
		before := margin
		if states > 0 {
			before += s.state(d.State, states) + gap
		}
		s.columns(w, before, d.Name, names, d.Message)
		for _, note := range d.Notes {
			s.columns(w, strings.Repeat(" ", display.Cells(before)), note, 0, "")
		}
	}
}

// columns writes a name and a message behind what stands before them. What does not fit
// into the line goes on in the next one, below the name.
func (s *sheet) columns(w io.Writer, before, name string, cells int, message string) {
	name, message = display.Line(name), display.Line(message)
	line := name
	if message != "" {
		line = display.Pad(name, cells) + wide + message
	}
	start := display.Cells(before)
	if s.display.Width == 0 || start+display.Cells(line) <= s.display.Width {
		_, _ = fmt.Fprintln(w, strings.TrimRight(before+line, " "))
		return
	}
	room := max(s.display.Width-start, leastRoom)
	lines := wrapped(name, room)
	if message != "" {
		lines = append(lines, wrapped(message, room)...)
	}
	for _, line := range lines {
		_, _ = fmt.Fprintln(w, before+line)
		before = strings.Repeat(" ", start)
	}
}

// leastRoom is how many cells a line of text has, however narrow the terminal is.
const leastRoom = 16

// wrapped returns text in lines of so many cells.
func wrapped(text string, cells int) []string {
	return strings.Split(ansi.Wrap(text, cells, ""), "\n")
}

// table writes details that are workspaces.
func (s *sheet) table(w io.Writer, details []Detail) {
	rows := [][]string{{"WORKSPACE", "CLUSTER", "PHASE", "SINCE", "LAST STATUS WRITE"}}
	for _, d := range details {
		rows = append(rows, []string{d.Name, d.Cluster, d.Phase, s.age(d.Since), d.Message})
	}
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], display.Cells(cell))
		}
	}
	// On a narrow terminal the cluster goes first, since the path says the same, and then
	// paths are cut in the middle.
	total := indent
	for _, width := range widths {
		total += width + len(gap)
	}
	if s.display.Width > 0 && total > s.display.Width {
		total -= widths[1] + len(gap)
		widths[1] = -1
		if over := total - s.display.Width; over > 0 {
			widths[0] = max(len("WORKSPACE"), widths[0]-over)
		}
	}
	for _, row := range rows {
		line := strings.Repeat(" ", indent)
		for i, cell := range row {
			if widths[i] >= 0 {
				line += display.Pad(s.display.Cut(display.Line(cell), widths[i]), widths[i]) + gap
			}
		}
		s.line(w, strings.TrimRight(line, " "))
	}
}

// conclusion names what blocks and what to do about it, and then what else there is to do.
func (s *sheet) conclusion(w io.Writer) {
	var further []string
	for _, check := range s.Checks {
		further = append(further, check.Next...)
	}
	if len(s.Blockers)+len(further) == 0 {
		return
	}
	if s.About != Initializer && s.About != Terminator {
		s.line(w, "")
	}
	for i, blocker := range s.Blockers {
		s.columns(w, s.word(display.Failed, "blocked", stateCells)+gap, blocker.Message, 0, "")
		next := slices.Clone(blocker.Next)
		if i == len(s.Blockers)-1 {
			next = append(next, further...)
		}
		s.next(w, next)
	}
	if len(s.Blockers) == 0 {
		s.next(w, further)
	}
}

func (s *sheet) next(w io.Writer, steps []string) {
	label := s.word(display.Strong, "next", stateCells)
	for _, step := range steps {
		command, remark := Split(step)
		line := display.Line(command)
		if remark != "" {
			line += remarkGap + s.display.Style(display.Faint, display.Line(remark))
		}
		_, _ = fmt.Fprintf(w, "%s%s%s\n", label, gap, line)
		label = strings.Repeat(" ", stateCells)
	}
}

// line writes one line, cut where the terminal ends.
func (s *sheet) line(w io.Writer, line string) {
	_, _ = fmt.Fprintln(w, s.display.CutEnd(display.Line(line), s.display.Width))
}

func (s *sheet) state(state State, cells int) string {
	return s.word(roleOf(state), string(state), cells)
}

func (s *sheet) word(role display.Role, word string, cells int) string {
	return display.Pad(s.display.Style(role, word), cells)
}

func roleOf(state State) display.Role {
	switch state {
	case OK, Done, Accepted:
		return display.OK
	case Waiting:
		return display.Waiting
	case Failed, Mismatch:
		return display.Failed
	case Warning, Open:
		return display.Warning
	case Unknown:
		return display.Unknown
	default:
		return display.Plain
	}
}

// age returns how long something had lasted when the diagnosis was taken.
func (s *sheet) age(since *metav1.Time) string {
	if since == nil || since.IsZero() {
		return ""
	}
	return Age(s.Taken.Time, since.Time)
}

// Age returns how long ago a time is, as kubectl writes it.
func Age(now, then time.Time) string {
	return duration.HumanDuration(max(0, now.Sub(then)))
}
