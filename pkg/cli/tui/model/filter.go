package model

import "strings"

// filter leaves out the rows that do not match.
type filter struct {
	text   string
	typing bool
}

func (m *Model) keyFilter() []Command {
	m.filter.typing = true
	return nil
}

func (m *Model) typeFilter(k Key) []Command {
	switch k {
	case "esc":
		m.clearFilter()
		return nil
	case "enter", "tab", "up", "down":
		m.filter.typing = false
		if m.filter.text == "" {
			m.clearFilter()
		}
		if k == "up" || k == "down" {
			return m.dispatch(k)
		}
		return nil
	}
	text, ok := edit(m.filter.text, k)
	if !ok || text == m.filter.text {
		return nil
	}
	m.filter.text = text
	m.setFilter()
	if len(m.tree.visible()) == 0 || len(m.tree.hits) == 0 {
		return nil
	}
	// The cursor goes to a hit as soon as there is one, and stays on it while it is one.
	if row, ok := m.tree.rowOf(m.cursor); ok && m.tree.rows[row].hit {
		return nil
	}
	return m.moveTo(m.tree.rows[m.tree.hits[0]])
}

// setFilter makes the tree match the text: part of a name, or of a path if there is a
// colon in it.
func (m *Model) setFilter() {
	text := strings.ToLower(m.filter.text)
	m.tree.match = func(n *node) bool {
		if strings.Contains(text, ":") {
			return strings.Contains(n.Path.String(), text)
		}
		return strings.Contains(n.title(m.o.User), text)
	}
	if text == "" {
		m.tree.match = nil
	}
	m.tree.changed()
}

func (m *Model) clearFilter() {
	m.filter = filter{}
	m.tree.match = nil
	m.tree.changed()
}

// nextHit goes to the next row that matches, or the one before.
func (m *Model) nextHit(direction int) []Command {
	m.tree.visible()
	hits := m.tree.hits
	if len(hits) == 0 {
		m.notice = "nothing is filtered; / filters"
		return nil
	}
	row, _ := m.tree.rowOf(m.cursor)
	if direction > 0 {
		for _, hit := range hits {
			if hit > row {
				return m.goTo(hit)
			}
		}
		return m.goTo(hits[0])
	}
	for i := len(hits) - 1; i >= 0; i-- {
		if hits[i] < row {
			return m.goTo(hits[i])
		}
	}
	return m.goTo(hits[len(hits)-1])
}

// edit applies a key to a line of text. ok is false if it is no key for that.
func edit(text string, k Key) (edited string, ok bool) {
	switch k {
	case "backspace", "ctrl+h":
		runes := []rune(text)
		return string(runes[:max(0, len(runes)-1)]), true
	case "ctrl+u":
		return "", true
	case "ctrl+w":
		return text[:strings.LastIndexAny(strings.TrimRight(text, " :"), " :")+1], true
	case "space":
		return text + " ", true
	}
	if runes := []rune(string(k)); len(runes) == 1 && runes[0] >= ' ' {
		return text + string(k), true
	}
	return text, false
}
