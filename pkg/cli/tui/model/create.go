package model

import (
	"slices"
	"strings"
)

// create asks for the name and the type of a new workspace.
type create struct {
	parent *node
	name   string
	types  []string
	// chosen is the index of the type, -1 for the default.
	chosen int
	// standard is what the default is, if that is known.
	standard string
	problem  string
	hints    []string
	seq      int
	sent     bool
}

func (m *Model) keyCreate() []Command {
	n := m.cursor
	switch {
	case n.Path.Empty():
		m.notice = "nothing can be created in " + n.title(m.o.User) + " yet"
		return nil
	case n.leaving():
		m.notice = n.Name + " is being deleted"
		return nil
	}
	c := &create{parent: n, chosen: -1}
	m.overlay = c
	c.seq = m.expect(func(msg Msg) []Command {
		answer := msg.(Types)
		c.types, c.standard = answer.Types, answer.Default
		if answer.Problem != "" {
			// Without the list, the default type can still be had.
			c.hints = []string{answer.Problem}
		}
		return nil
	})
	return []Command{AskTypes{Seq: c.seq, Parent: n.Path}}
}

func (c *create) press(m *Model, k Key) []Command {
	if c.sent {
		if k == "esc" {
			m.overlay = nil
		}
		return nil
	}
	switch k {
	case "esc":
		m.overlay = nil
		return m.forget(c.seq)
	case "up", "shift+tab":
		c.chosen = max(-1, c.chosen-1)
	case "down", "tab":
		c.chosen = min(len(c.types)-1, c.chosen+1)
	case "enter":
		return c.send(m)
	default:
		if name, ok := edit(c.name, k); ok {
			c.name, c.problem = strings.ToLower(name), ""
		}
	}
	return nil
}

func (c *create) scroll(_ *Model, rows int) {
	c.chosen = min(max(-1, c.chosen+rows), len(c.types)-1)
}

func (c *create) send(m *Model) []Command {
	if c.name == "" {
		c.problem = "a workspace needs a name"
		return nil
	}
	c.sent, c.problem, c.hints = true, "", nil
	wanted := ""
	if c.chosen >= 0 {
		wanted = c.types[c.chosen]
	}
	name := c.name
	commands := m.forget(c.seq)
	c.seq = m.expect(func(msg Msg) []Command {
		answer := msg.(Created)
		c.sent, c.problem, c.hints = false, answer.Problem, answer.Hints
		if answer.Problem != "" {
			if m.overlay != c {
				m.notice = answer.Problem
			}
			return nil
		}
		if m.overlay == c {
			m.overlay = nil
		}
		m.notice = "created " + c.parent.Path.Join(name).String()
		if c.parent.open {
			return nil
		}
		return m.openNode(c.parent)
	})
	return append(commands, Create{Seq: c.seq, Parent: c.parent.Path, Name: name, Type: wanted})
}

func (c *create) draw(m *Model, width, height int) (string, []string) {
	lines := []string{"name  " + c.name + m.style(reverse, " "), ""}
	standard := "default"
	if c.standard != "" {
		standard = "default, which is " + c.standard
	}
	choices := slices.Concat([]string{standard}, c.types)
	room := max(1, height-5)
	first := min(max(0, c.chosen+1-room+1), max(0, len(choices)-room))
	for i := first; i < min(len(choices), first+room); i++ {
		head, mark := "      ", "  "
		if i == first {
			head = "type  "
		}
		if i == c.chosen+1 {
			mark = m.g().cursor + " "
		}
		lines = append(lines, m.d().Cut(head+mark+choices[i], width))
	}
	switch {
	case c.sent:
		lines = append(lines, "", m.style(faint, "creating "+m.g().Ellipsis))
	case c.problem != "":
		lines = append(lines, "")
		lines = append(lines, m.wrap([]string{m.style(failedRole, "error: "+c.problem)}, width)...)
	}
	for _, hint := range c.hints {
		lines = append(lines, m.wrap([]string{"hint: " + hint}, width)...)
	}
	return "Create below " + c.parent.Path.String(), lines
}

func (c *create) keys() string { return "enter create  up down type  esc back" }
