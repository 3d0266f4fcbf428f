package model

import "fmt"

// manyNodes is how many workspaces are opened as one branch without asking.
const manyNodes = 200

// branch is a part of the tree that is being opened as a whole, level by level: what is
// below a node is known only when it has been asked for.
type branch struct {
	top    *node
	opened int
	// allowed is how many may be opened until somebody has to say that it is all right.
	allowed int
	// waiting are the nodes that are not opened yet.
	waiting []*node
}

// openAll opens everything from n down.
func (m *Model) openAll(n *node) []Command {
	m.branch = &branch{top: n, allowed: manyNodes}
	return m.expand(n)
}

// expand opens n as part of the branch, and what is known below it.
func (m *Model) expand(n *node) []Command {
	b := m.branch
	if n.leaf() || n.Mount != "" && n != b.top {
		return nil
	}
	if b.opened >= b.allowed {
		b.waiting = append(b.waiting, n)
		m.askForMore()
		return nil
	}
	b.opened++
	n.open = true
	m.tree.changed()
	commands := m.watchBelow(n)
	if n.load == loaded {
		for _, c := range n.children {
			commands = append(commands, m.expand(c)...)
		}
	}
	return commands
}

// openBranch goes on below n, whose children have just come.
func (m *Model) openBranch(n *node) []Command {
	if m.branch == nil || !n.within(m.branch.top) || !n.open {
		return nil
	}
	var commands []Command
	for _, c := range n.children {
		if !c.open {
			commands = append(commands, m.expand(c)...)
		}
	}
	return commands
}

// askForMore asks whether to go on.
func (m *Model) askForMore() {
	b := m.branch
	m.ask = &question{
		text: fmt.Sprintf("%d are open, and there are more. Open them?", b.opened),
		yes: func() []Command {
			waiting := b.waiting
			b.waiting, b.allowed = nil, b.allowed+5*manyNodes
			var commands []Command
			for _, n := range waiting {
				commands = append(commands, m.expand(n)...)
			}
			return commands
		},
		no: func() []Command {
			m.branch = nil
			return nil
		},
	}
}

// closeAll closes everything from n down.
func (m *Model) closeAll(n *node) []Command {
	m.branch = nil
	commands := m.unwatchBelow(n)
	n.each(func(n *node) { n.open = false })
	if m.cursor.within(n) {
		m.cursor = n
	}
	m.tree.changed()
	return commands
}
