package model

import (
	"fmt"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// nextFrame only makes a new frame be drawn.
type nextFrame struct{}

// wheelRows is how many rows one step of the wheel moves.
const wheelRows = 3

func (m *Model) keyUp() []Command   { return m.step(-1) }
func (m *Model) keyDown() []Command { return m.step(1) }

// step moves the cursor by rows.
func (m *Model) step(rows int) []Command {
	row, ok := m.tree.rowOf(m.cursor)
	if !ok {
		return m.goTo(0)
	}
	return m.goTo(row + rows)
}

// goTo moves the cursor to a row.
func (m *Model) goTo(row int) []Command {
	rows := m.tree.visible()
	if len(rows) == 0 {
		return nil
	}
	return m.moveTo(rows[min(max(row, 0), len(rows)-1)])
}

// moveTo moves the cursor to a node.
func (m *Model) moveTo(n *node) []Command {
	if n == nil || n == m.cursor {
		return nil
	}
	m.cursor = n
	return m.moved()
}

func (m *Model) wheel(steps int) []Command {
	if m.overlay != nil {
		m.overlay.scroll(m, steps*wheelRows)
		return nil
	}
	commands := m.step(steps * wheelRows)
	m.follow()
	return commands
}

// follow keeps the cursor on a row, and the row on the screen.
func (m *Model) follow() {
	rows := m.tree.visible()
	row, ok := m.tree.rowOf(m.cursor)
	for n := m.cursor; !ok && n != nil; {
		// It was filtered out, or something above it was closed.
		if n = n.parent; n != nil {
			row, ok = m.tree.rowOf(n)
		}
	}
	page := m.page()
	m.offset = min(m.offset, max(0, len(rows)-page))
	if !ok {
		return
	}
	m.offset = min(max(m.offset, row-page+1), row)
	m.offset = max(m.offset, 0)
}

func (m *Model) keyOpen() []Command {
	n := m.cursor
	switch {
	case n.open && len(n.children) > 0:
		return m.goToChild(n)
	case n.open && n.load != broken && n.load != denied:
		return nil
	case n.leaf():
		return nil
	}
	return m.openNode(n)
}

// goToChild goes to the first child of n that is shown.
func (m *Model) goToChild(n *node) []Command {
	row, ok := m.tree.rowOf(n)
	rows := m.tree.visible()
	if ok && row+1 < len(rows) && rows[row+1].parent == n {
		return m.moveTo(rows[row+1])
	}
	return nil
}

func (m *Model) openNode(n *node) []Command {
	n.open = true
	m.tree.changed()
	return m.watchBelow(n)
}

func (m *Model) closeNode(n *node) []Command {
	m.branch = nil
	commands := m.unwatchBelow(n)
	n.open = false
	m.tree.changed()
	return commands
}

func (m *Model) keyClose() []Command {
	n := m.cursor
	if n.open && len(n.children) > 0 {
		return m.closeNode(n)
	}
	commands := []Command(nil)
	if n.open {
		commands = m.closeNode(n)
	}
	if n.parent != nil {
		commands = append(commands, m.moveTo(n.parent)...)
	}
	return commands
}

func (m *Model) keyToggle() []Command {
	switch n := m.cursor; {
	case n.open:
		return m.closeNode(n)
	case n.leaf():
		return nil
	default:
		return m.openNode(n)
	}
}

// keyEnter leaves for the workspace, if one can go there.
func (m *Model) keyEnter() []Command {
	n := m.cursor
	refuse := func(why string) []Command {
		m.notice = why
		return nil
	}
	switch {
	case n.home && n.Path.Empty():
		return m.quit(Quit{Home: true})
	case m.o.Offline != "":
		return refuse("this is a file, nobody can go there")
	case n.Mount != "" && n.Away:
		return refuse(n.Name + " leads to no workspace at present")
	case n.load == denied:
		return refuse("no access to " + n.Name)
	case n.leaving():
		return refuse(n.Name + " is being deleted")
	case n.Path.Empty():
		return refuse(n.Name + " has no place yet")
	}
	return m.quit(Quit{To: n.Path})
}

func (m *Model) keyQuit() []Command { return m.quit(Quit{}) }

func (m *Model) quit(q Quit) []Command {
	q.Print = m.prints
	return []Command{q}
}

func (m *Model) keyEscape() []Command {
	if m.filter.text != "" {
		m.clearFilter()
		return nil
	}
	if len(m.marked) > 0 {
		m.marked, m.marks = nil, ""
		return nil
	}
	return m.keyQuit()
}

// keyReload asks anew for what is below the cursor, and for its details.
func (m *Model) keyReload() []Command {
	n := m.cursor
	if n == nil {
		return nil
	}
	var commands []Command
	if n.watch != 0 {
		delete(m.watches, n.watch)
		commands = append(commands, Unwatch{Seq: n.watch})
		n.watch = 0
	}
	n.load, n.problem = unasked, ""
	if n.open {
		commands = append(commands, m.watch(n)...)
	}
	m.tree.changed()
	return append(commands, m.moved()...)
}

func (m *Model) keyEdit() []Command {
	n := m.cursor
	if n.subject().Parent.Empty() {
		m.notice = "there is no Workspace object of " + n.title(m.o.User)
		return nil
	}
	return []Command{Edit{n.subject()}}
}

func (m *Model) keyShell() []Command {
	n := m.cursor
	if n.Path.Empty() {
		m.notice = "nobody can go to " + n.title(m.o.User) + " yet"
		return nil
	}
	return []Command{Shell{n.subject()}}
}

func (m *Model) keyPin() []Command {
	if m.cursor.Path.Empty() {
		return nil
	}
	return []Command{TogglePin{Path: m.cursor.Path}}
}

// toPin goes to a pin, opening what is above it.
func (m *Model) toPin(i int) []Command {
	if i >= len(m.o.Pins) {
		m.notice = fmt.Sprintf("there is no pin %d; p pins a workspace", i+1)
		return nil
	}
	return m.reveal(m.o.Pins[i].Path)
}

// reveal goes to the workspace p, opening what is above it. What is not known of the way
// is taken for granted until the server says otherwise.
func (m *Model) reveal(p logicalcluster.Path) []Command {
	if n := m.tree.at(p); n != nil {
		return append(m.uncover(n), m.moveTo(n)...)
	}
	segments := p.Segments()
	var at *node
	for _, top := range m.tree.tops {
		if !top.Path.Empty() && top.Path.String() == segments[0] {
			at = top
		}
	}
	if at == nil {
		at = &node{Item: Item{Name: segments[0], Path: logicalcluster.Path{}.Join(segments[0])}}
		m.tree.tops = append(m.tree.tops, at)
		m.tree.count++
	}
	for _, name := range segments[1:] {
		_, child := at.find(name)
		if child == nil {
			child, _ = at.put(Item{Name: name, Path: at.Path.Join(name)})
			child.seen = at.listing
			m.tree.count++
		}
		at = child
	}
	return append(m.uncover(at), m.moveTo(at)...)
}

// uncover opens everything above n.
func (m *Model) uncover(n *node) []Command {
	m.clearFilter()
	top := n
	for p := n.parent; p != nil; p = p.parent {
		p.open = true
		top = p
	}
	m.tree.changed()
	return m.watchBelow(top)
}

func (m *Model) keyCopyPath() []Command {
	p := m.cursor.Path
	if p.Empty() {
		return nil
	}
	return m.copy(p.String())
}

func (m *Model) keyCopyCommand() []Command {
	switch n := m.cursor; {
	case n.home:
		return m.copy("kubectl ws ~")
	case n.Path.Empty():
		return nil
	default:
		return m.copy("kubectl ws :" + n.Path.String())
	}
}

// copy puts text into the clipboard, or says that it will be printed.
func (m *Model) copy(text string) []Command {
	if !m.o.Clipboard {
		m.prints = append(m.prints, text)
		m.notice = "this terminal takes nothing for the clipboard; it will be printed at the end: " + text
		return nil
	}
	m.notice = "copied: " + text
	return []Command{Copy{Text: text}}
}

// keyBound marks the workspaces that have bound the next export of the workspace under
// the cursor.
func (m *Model) keyBound() []Command {
	d := &m.details
	if d.node != m.cursor || d.have[Exports] == partAsked {
		m.notice = "the exports are not known yet"
		return m.describe()
	}
	exports := d.Exports
	if len(exports) == 0 {
		m.notice = m.cursor.Name + " exports nothing"
		return nil
	}
	i := 0
	for j := range exports {
		if exports[j].Name == m.marks {
			i = (j + 1) % len(exports)
		}
	}
	export := exports[i].Name
	m.notice = "looking for workspaces that have bound " + export
	seq := m.expect(func(msg Msg) []Command {
		answer := msg.(Consumers)
		if answer.Problem != "" {
			m.notice = answer.Problem
			return nil
		}
		m.marked, m.marks = map[string]bool{}, export
		for _, c := range answer.Clusters {
			m.marked[c] = true
		}
		m.notice = fmt.Sprintf("%s %d have bound %s; esc clears", m.g().bound, len(m.marked), export)
		return nil
	})
	return []Command{AskConsumers{Seq: seq, Subject: m.cursor.subject(), Export: export}}
}

// title is what n is called in a sentence. The home workspace has no name before it is
// asked for.
func (n *node) title(user string) string {
	switch {
	case n.home && user != "":
		return user
	case n.home:
		return "home"
	default:
		return n.Name
	}
}
