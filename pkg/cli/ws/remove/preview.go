package remove

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/forkless/kcp/pkg/cli/display"
)

const (
	// gap is how many cells are between the columns of a preview.
	gap = 5
	// mostNamed is how many names are shown.
	mostNamed = 5
	// unknown stands for a number that could not be found out.
	unknown = "?"
)

// line is a line of a preview: how many, which, and what that means.
type line struct{ count, names, meaning string }

// preview shows what goes with a workspace.
func preview(d display.Display, inv *inventory, now time.Time) string {
	lines := inv.lines()
	width := 0
	for _, l := range lines {
		if l.names != "" {
			width = max(width, display.Cells(l.count)+gap)
		}
	}
	var b strings.Builder
	b.WriteString(fit(d, inv.title(now)))
	for _, l := range lines {
		text := l.count
		if l.names != "" {
			text = display.Pad(l.count, width) + l.names
		}
		if l.meaning != "" {
			text += "      " + l.meaning
		}
		b.WriteString(fit(d, "  "+text))
	}
	return b.String()
}

// fit ends a line, after cutting it to the width of the display.
func fit(d display.Display, text string) string {
	text = display.Line(text)
	if d.Width > 0 && display.Cells(text) > d.Width {
		text = d.CutEnd(text, d.Width)
	}
	return text + "\n"
}

// title says what the workspace is, and since when.
func (inv *inventory) title(now time.Time) string {
	var known []string
	switch ws := inv.workspace; {
	case ws.Spec.Mount != nil:
		known = append(known, fmt.Sprintf("mounted %s/%s, which stays", ws.Spec.Mount.Reference.Kind, ws.Spec.Mount.Reference.Name))
	case ws.Spec.Type != nil:
		known = append(known, ws.Spec.Type.Name)
	}
	if created := inv.workspace.CreationTimestamp; !created.IsZero() {
		known = append(known, duration.HumanDuration(now.Sub(created.Time))+" old")
	}
	if len(known) == 0 {
		return inv.path.String()
	}
	return fmt.Sprintf("%s (%s)", inv.path, strings.Join(known, ", "))
}

func (inv *inventory) lines() []line {
	if inv.workspace.Spec.Mount != nil {
		return nil
	}
	var lines []line
	if len(inv.below) > 0 || inv.hidden {
		count := plural(len(inv.below), "workspace", "workspaces")
		if inv.hidden {
			count = atLeast(len(inv.below)) + " workspaces"
		}
		lines = append(lines, line{count: count + " below it", names: some(inv.below)})
	}
	if len(inv.exports) > 0 || inv.hiddenExports {
		lines = append(lines, inv.exportLine())
	}
	return append(lines, line{count: inv.objectCount()})
}

func (inv *inventory) exportLine() line {
	count := plural(len(inv.exports), "APIExport", "APIExports")
	if inv.hiddenExports {
		count = atLeast(len(inv.exports)) + " APIExports"
	}
	exports := slices.SortedFunc(slices.Values(inv.exports), func(a, b export) int { return cmp.Compare(a.name, b.name) })
	names, meaning := make([]string, 0, len(exports)), ""
	for _, e := range exports {
		bound := plural(e.consumers, "workspace", "workspaces")
		if !e.known {
			bound = unknown + " workspaces"
		}
		names = append(names, fmt.Sprintf("%s, bound by %s", e.name, bound))
		if e.consumers > 0 || !e.known {
			meaning = "these lose the API"
		}
	}
	if len(names) > mostNamed {
		names = append(names[:mostNamed], fmt.Sprintf("and %d more", len(names)-mostNamed))
	}
	return line{count: count, names: strings.Join(names, "; "), meaning: meaning}
}

// objectCount says how many objects there are, as far as that is known.
func (inv *inventory) objectCount() string {
	if inv.resources == 0 && (inv.uncounted || inv.hiddenResources > 0) {
		return unknown + " objects"
	}
	count := plural(inv.objects, "object", "objects")
	if inv.uncounted {
		count = fmt.Sprintf("more than %d objects", inv.objects)
	}
	count += " in " + plural(inv.resources, "resource", "resources")
	if inv.hiddenResources > 0 {
		count += fmt.Sprintf(", %s in %s", unknown, plural(inv.hiddenResources, "resource", "resources"))
	}
	return count
}

// atLeast returns the number of what is known among what is not.
func atLeast(n int) string {
	if n == 0 {
		return unknown
	}
	return fmt.Sprintf("%d or more", n)
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// some lists the first of names, and says how many more there are.
func some(names []string) string {
	if len(names) <= mostNamed {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:mostNamed], ", "), len(names)-mostNamed)
}
