package model

import "time"

// watchBelow returns the commands to watch what is open and shown from n down.
func (m *Model) watchBelow(n *node) []Command {
	if !n.open || !n.shown() {
		return nil
	}
	commands := m.watch(n)
	for _, c := range n.children {
		commands = append(commands, m.watchBelow(c)...)
	}
	return commands
}

// watch returns the command to watch n, which has no watch then.
func (m *Model) watch(n *node) []Command {
	if n.watch != 0 || n.load == hidden {
		return nil
	}
	if n.Path.Empty() {
		if n.home {
			return m.findHome(n)
		}
		return nil
	}
	n.watch = m.number()
	n.load = asked
	m.watches[n.watch] = n
	return []Command{Watch{Seq: n.watch, Path: n.Path}}
}

// unwatchBelow returns the commands to watch nothing from n down.
func (m *Model) unwatchBelow(n *node) []Command {
	var commands []Command
	n.each(func(n *node) {
		if n.watch != 0 {
			delete(m.watches, n.watch)
			commands = append(commands, Unwatch{Seq: n.watch})
			n.watch = 0
		}
	})
	return commands
}

// findHome asks where the home workspace is.
func (m *Model) findHome(n *node) []Command {
	if n.load == asked {
		return nil
	}
	n.load = asked
	seq := m.expect(func(msg Msg) []Command {
		home := msg.(Home)
		if home.Problem != "" {
			n.load, n.problem, n.open = broken, home.Problem, false
			m.notice = home.Problem
			m.tree.changed()
			return nil
		}
		if n.Path.Empty() {
			m.tree.count++
		}
		n.Path, n.load = home.Path, unasked
		m.tree.changed()
		commands := m.watchBelow(n)
		if m.cursor == n {
			commands = append(commands, m.moved()...)
		}
		return commands
	})
	return []Command{FindHome{Seq: seq}}
}

func (m *Model) onChildren(msg Children) []Command {
	n := m.watches[msg.Seq]
	if n == nil {
		return nil
	}
	if msg.First {
		n.listing++
	}
	var commands []Command
	for _, item := range msg.Items {
		commands = append(commands, m.put(n, item, false)...)
	}
	if msg.Last {
		m.revive(n)
		commands = append(commands, m.drop(n, func(c *node) bool { return c.seen != n.listing })...)
		commands = append(commands, m.openBranch(n)...)
	}
	m.tree.changed()
	m.follow()
	return commands
}

func (m *Model) onChanges(msg Changes) []Command {
	n := m.watches[msg.Seq]
	if n == nil {
		return nil
	}
	m.revive(n)
	var commands []Command
	gone := map[string]bool{}
	for _, name := range msg.Gone {
		gone[name] = true
	}
	if len(gone) > 0 {
		commands = append(commands, m.drop(n, func(c *node) bool { return gone[c.Name] })...)
	}
	for _, item := range msg.Now {
		commands = append(commands, m.put(n, item, true)...)
	}
	m.tree.changed()
	m.follow()
	return commands
}

// put adds or changes a child of n. One that comes while it is watched stands out.
func (m *Model) put(n *node, item Item, live bool) []Command {
	var commands []Command
	if _, c := n.find(item.Name); c != nil && c.isOther(item) {
		// What was known of the old one is not true of the new one.
		commands = m.unwatchBelow(c)
		m.tree.forget(c)
		m.tree.count++
		if m.cursor.within(c) {
			m.cursor = c
		}
		*c = node{parent: n, depth: c.depth, open: c.open}
	}
	child, added := n.put(item)
	child.seen = n.listing
	if added {
		m.tree.count++
		if live && m.o.Display.Color && !m.o.Display.Accessible {
			child.flash = m.now.Add(flashing)
			commands = append(commands, Later{After: flashing, Msg: nextFrame{}})
		}
		return commands
	}
	if child == m.cursor && live {
		commands = append(commands, m.moved()...)
	}
	return append(commands, m.watchBelow(child)...)
}

// drop removes the children of n that are gone.
func (m *Model) drop(n *node, gone func(*node) bool) []Command {
	var commands []Command
	kept := n.children[:0:0]
	if len(n.children) > 0 && !anyOf(n.children, gone) {
		return nil
	}
	moved := false
	for i, c := range n.children {
		if !gone(c) {
			kept = append(kept, c)
			continue
		}
		commands = append(commands, m.unwatchBelow(c)...)
		m.tree.forget(c)
		if m.cursor != nil && m.cursor.within(c) {
			m.cursor, moved = heir(n, i, gone), true
		}
	}
	n.children = kept
	if moved {
		commands = append(commands, m.moved()...)
	}
	return commands
}

func anyOf(nodes []*node, is func(*node) bool) bool {
	for _, n := range nodes {
		if is(n) {
			return true
		}
	}
	return false
}

// heir returns who gets the cursor of the child that stood at i: the next one that is
// left, the one before, or n.
func heir(n *node, i int, gone func(*node) bool) *node {
	for _, c := range n.children[i+1:] {
		if !gone(c) {
			return c
		}
	}
	for j := i - 1; j >= 0; j-- {
		if !gone(n.children[j]) {
			return n.children[j]
		}
	}
	return n
}

// revive takes note that the watch of n works.
func (m *Model) revive(n *node) {
	n.load, n.problem, n.retry = loaded, "", time.Time{}
}

func (m *Model) onLost(msg Lost) []Command {
	n := m.watches[msg.Seq]
	if n == nil {
		return nil
	}
	n.problem, n.retry = msg.Problem, msg.Retry
	m.tree.changed()
	switch msg.Why {
	case Unreachable:
		n.load = lost
		return nil
	case Denied:
		n.load = denied
	case Hidden:
		n.load = hidden
	case Childless:
		n.load = loaded
	default:
		n.load = broken
	}
	return m.openBranch(n)
}

// connection is how the watches are.
type connection int

const (
	connecting connection = iota
	live
	reconnecting
)

// connection returns how the watches are, and when they are tried again.
func (m *Model) connection() (connection, time.Time) {
	state, retry := connecting, time.Time{}
	for _, n := range m.watches {
		switch n.load {
		case lost:
			state = reconnecting
			if retry.IsZero() || n.retry.Before(retry) {
				retry = n.retry
			}
		case asked, unasked:
		default:
			if state == connecting {
				state = live
			}
		}
	}
	return state, retry
}
