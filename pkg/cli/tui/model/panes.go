package model

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/forkless/kcp/pkg/cli/display"
)

func (m *Model) detailsTitle() string {
	if m.cursor == nil {
		return ""
	}
	return m.place()
}

// detailLines draws the tabs and the page that is chosen.
func (m *Model) detailLines(width, height int) []string {
	if m.cursor == nil {
		return nil
	}
	lines := []string{m.tabs(width), ""}
	page := m.detailPage(width)
	d := &m.details
	room := max(1, height-len(lines))
	d.offset = min(d.offset, max(0, len(page)-room))
	lines = append(lines, m.old(page[d.offset:min(len(page), d.offset+room)])...)
	for i := range lines {
		lines[i] = m.cutEnd(lines[i], width)
	}
	if m.twoPanes() && m.overlay == nil {
		return inset(lines)
	}
	return lines
}

// old returns lines faint while nobody knows whether they are still true.
func (m *Model) old(lines []string) []string {
	if state, _ := m.connection(); state != reconnecting {
		return lines
	}
	dimmed := make([]string, len(lines))
	for i, line := range lines {
		dimmed[i] = m.style(faint, ansi.Strip(line))
	}
	return dimmed
}

// tabs names the pages, with how much is on them.
func (m *Model) tabs(width int) string {
	d := &m.details
	counts := [aspects]int{Bindings: len(d.Bindings), Exports: len(d.Exports), Events: len(d.Events)}
	titles := make([]string, aspects)
	for a := range aspects {
		title := a.String()
		if counts[a] > 0 {
			title += fmt.Sprintf(" %d", counts[a])
		}
		if a == m.tab {
			title = m.tabMark(title)
		}
		titles[a] = title
	}
	for _, between := range []string{"  ", " "} {
		if line := strings.Join(titles, between); cells(line) <= width {
			return line
		}
	}
	return m.tabMark(fmt.Sprintf("%s %d/%d", m.tab, int(m.tab)+1, int(aspects)))
}

// tabMark makes the title of the page stand out; without color, brackets do.
func (m *Model) tabMark(title string) string {
	if m.o.Display.Color {
		return "\x1b[1;4m" + title + "\x1b[0m"
	}
	return "[" + title + "]"
}

func (m *Model) detailPage(width int) []string {
	d := &m.details
	if d.node != m.cursor {
		return nil
	}
	if d.have[m.tab] == partFailed {
		return m.wrap([]string{m.style(failedRole, d.problems[m.tab])}, width)
	}
	var lines []string
	switch m.tab {
	case Overview:
		return m.overviewLines(width)
	case Bindings:
		lines = m.bindingLines(width)
	case Exports:
		lines = m.exportLines(width)
	case Events:
		lines = m.eventLines(width)
	case YAML:
		if d.YAML != "" {
			for line := range strings.SplitSeq(strings.TrimRight(d.YAML, "\n"), "\n") {
				lines = append(lines, display.Line(line))
			}
		}
	}
	switch {
	case len(lines) > 0:
		return lines
	case d.have[m.tab] == partKnown:
		return []string{m.style(faint, "none")}
	default:
		return []string{m.style(faint, "loading "+m.g().Ellipsis)}
	}
}

// facts are the facts of the details, and until they are there what the tree knows.
func (m *Model) facts() Facts {
	f, n := m.details.Facts, m.cursor
	if m.details.have[Overview] != partKnown && f.Type == "" && f.Phase == "" {
		f = Facts{Type: n.Type, Phase: n.Phase, Cluster: n.Cluster, Created: n.Created}
	}
	if n.Phase != "" {
		// The tree is watched, the details were asked for once.
		f.Phase = n.Phase
	}
	return f
}

func (m *Model) overviewLines(width int) []string {
	f, n := m.facts(), m.cursor
	const left = 20
	two := func(a, av, b, bv string) string {
		first := pad(a, 10) + av
		switch {
		case bv == "":
			return first
		case av == "":
			return pad(b, 10) + bv
		}
		return pad(first, left+1) + pad(b, 8) + bv
	}
	var lines []string
	add := func(line, value string) {
		if value != "" {
			lines = append(lines, line)
		}
	}
	add(two("type", f.Type, "", ""), f.Type)
	add(two("phase", m.phaseWord(&Item{Phase: f.Phase, Since: n.Since}), "cluster", f.Cluster), f.Phase+f.Cluster)
	add(two("shard", f.Shard, "age", m.age(f.Created)), f.Shard+m.age(f.Created))
	add(two("default", typeName(f.Default), "by", f.By), f.Default+f.By)
	if n.Mount != "" {
		add(two("mounts", n.Mount, "", ""), n.Mount)
		add(two("url", f.URL, "", ""), f.URL)
	}
	for _, text := range []string{f.Description, n.Reason, n.problem} {
		if text != "" {
			lines = append(lines, "")
			lines = append(lines, m.wrap([]string{text}, width)...)
		}
	}
	if len(m.details.Conditions) > 0 {
		lines = append(lines, "")
	}
	for _, c := range m.details.Conditions {
		lines = append(lines, m.conditionLines(c, width)...)
	}
	return lines
}

func (m *Model) conditionLines(c Condition, width int) []string {
	wide := 5
	if c.State != OK {
		wide = 9
	}
	head := pad(m.style(roleOf(c.State), string(c.State)), wide) + c.Name
	age := m.age(c.Since)
	lines := []string{pad(m.cutEnd(head, width-6), width-len(age)-4) + age}
	if c.State != OK && c.Message != "" {
		for _, line := range m.wrap([]string{c.Message}, max(10, width-wide)) {
			lines = append(lines, strings.Repeat(" ", wide)+line)
		}
	}
	return lines
}

func (m *Model) bindingLines(width int) []string {
	var lines []string
	for _, b := range m.details.Bindings {
		state := m.style(okRole, "ok")
		if b.Phase != "" {
			state = m.style(waitingRole, b.Phase)
		}
		line := pad(state, 5) + b.Name + " " + m.g().Arrow + " " + b.Export
		lines = append(lines, m.cutEnd(line, width))
		if b.Open > 0 {
			lines = append(lines, "     "+m.style(warningRole, fmt.Sprintf("%d claims without an answer", b.Open)))
		}
		for _, r := range b.Resources {
			lines = append(lines, "     "+m.style(faint, r))
		}
	}
	return lines
}

func (m *Model) exportLines(width int) []string {
	var lines []string
	for _, e := range m.details.Exports {
		line := e.Name
		if e.Name == m.marks {
			line += " " + m.g().bound
		}
		if e.Identity != "" {
			line += "  " + m.style(faint, "identity "+e.Identity[:min(12, len(e.Identity))])
		}
		lines = append(lines, m.cutEnd(line, width))
		for _, r := range e.Resources {
			lines = append(lines, "     "+m.style(faint, r))
		}
		if len(e.Slices) > 0 {
			lines = append(lines, m.cutEnd(fmt.Sprintf("     endpoint slices %s, endpoints %d", strings.Join(e.Slices, ", "), e.Endpoints), width))
		}
	}
	return lines
}

func (m *Model) eventLines(width int) []string {
	var lines []string
	for _, e := range m.details.Events {
		reason := m.style(okRole, e.Reason)
		if e.Warning {
			reason = m.style(warningRole, "Warning "+e.Reason)
		}
		line := pad(m.age(e.At), 6) + reason + "  " + e.Subject
		if e.Count > 1 {
			line += fmt.Sprintf("  x%d", e.Count)
		}
		lines = append(lines, m.cutEnd(line, width))
		for _, text := range m.wrap([]string{e.Message}, max(10, width-6)) {
			lines = append(lines, "      "+m.style(faint, text))
		}
	}
	return lines
}

// requestLine is a line of the log of requests.
func (m *Model) requestLine(r Request) string {
	status, role := fmt.Sprint(r.Status), okRole
	switch {
	case r.Status == 0:
		status, role = "---", failedRole
	case r.Status >= 400:
		role = warningRole
	}
	line := fmt.Sprintf("%s  %s %6dms  %-6s %s", r.At.Format(time.TimeOnly), m.style(role, status), r.Took.Milliseconds(), r.Method, r.Path)
	if r.Problem != "" {
		line += "  " + m.style(failedRole, r.Problem)
	}
	return line
}
