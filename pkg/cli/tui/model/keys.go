package model

import (
	"slices"
	"strings"
)

// binding says what keys do when no overlay takes them.
type binding struct {
	keys []Key
	// does says it in the list of keys, and command what one would type instead.
	does, command string
	act           func(*Model) []Command
	// quiet keys are further spellings that the list leaves out.
	quiet []Key
}

// bindings are all keys of the tree, in the order of the list.
func bindings() []binding {
	return []binding{
		{keys: []Key{"up", "k"}, does: "up", act: (*Model).keyUp},
		{keys: []Key{"down", "j"}, does: "down", act: (*Model).keyDown},
		{keys: []Key{"right", "l"}, does: "open", act: (*Model).keyOpen},
		{keys: []Key{"left", "h", "backspace"}, does: "close, or go to the parent", act: (*Model).keyClose},
		{keys: []Key{"space"}, does: "open or close", act: (*Model).keyToggle},
		{keys: []Key{"g", "home"}, does: "first row", act: func(m *Model) []Command { return m.goTo(0) }},
		{keys: []Key{"G", "end"}, does: "last row", act: func(m *Model) []Command { return m.goTo(len(m.tree.visible()) - 1) }},
		{keys: []Key{"pgup", "ctrl+u"}, does: "a page, half a page up", act: func(m *Model) []Command { return m.step(-m.page()) }},
		{keys: []Key{"pgdown", "ctrl+d"}, does: "a page, half a page down", act: func(m *Model) []Command { return m.step(m.page()) }, quiet: []Key{"pgdn"}},
		{keys: []Key{"o"}, does: "open the whole branch", command: "kubectl ws tree", act: func(m *Model) []Command { return m.openAll(m.cursor) }},
		{keys: []Key{"O"}, does: "close the whole branch", act: func(m *Model) []Command { return m.closeAll(m.cursor) }},
		{keys: []Key{"/"}, does: "filter rows; n and N next hit, esc clears", act: (*Model).keyFilter},
		{keys: []Key{"n"}, does: "next hit", act: func(m *Model) []Command { return m.nextHit(1) }},
		{keys: []Key{"N"}, does: "hit before", act: func(m *Model) []Command { return m.nextHit(-1) }},
		{keys: []Key{"f"}, does: "find a workspace by parts of its path", command: "kubectl ws pick", act: (*Model).keyFind},
		{keys: []Key{"tab"}, does: "next page of details", act: func(m *Model) []Command { return m.turn(1) }},
		{keys: []Key{"shift+tab"}, does: "page of details before", act: func(m *Model) []Command { return m.turn(-1) }},
		{keys: []Key{"enter"}, does: "leave, and go to the workspace", command: "kubectl ws PATH", act: (*Model).keyEnter},
		{keys: []Key{"c"}, does: "create a workspace below", command: "kubectl create workspace NAME", act: (*Model).keyCreate},
		{keys: []Key{"d"}, does: "delete the workspace", command: "kubectl ws delete PATH", act: (*Model).keyDelete},
		{keys: []Key{"w"}, does: "why it is not ready", command: "kubectl ws why PATH", act: (*Model).keyWhy},
		{keys: []Key{"e"}, does: "edit the workspace", command: "kubectl edit workspace NAME", act: (*Model).keyEdit},
		{keys: []Key{"s"}, does: "a shell in the workspace", command: "kubectl ws shell PATH", act: (*Model).keyShell},
		{keys: []Key{"b"}, does: "mark who has bound the next export of the workspace", act: (*Model).keyBound},
		{keys: []Key{"p"}, does: "pin or unpin; 1 to 9 go to pins", command: "kubectl ws pin NAME PATH", act: (*Model).keyPin},
		{keys: []Key{"y"}, does: "copy the path", act: (*Model).keyCopyPath},
		{keys: []Key{"Y"}, does: "copy the command that goes there", act: (*Model).keyCopyCommand},
		{keys: []Key{"@"}, does: "requests that were made", act: (*Model).keyLog},
		{keys: []Key{"r"}, does: "load again", act: (*Model).keyReload},
		{keys: []Key{"t"}, does: "other columns", act: (*Model).keyColumns},
		{keys: []Key{"?"}, does: "these keys", act: (*Model).keyHelp},
		{keys: []Key{"esc"}, does: "clear the filter, or leave", act: (*Model).keyEscape},
		{keys: []Key{"q", "ctrl+c"}, does: "leave", act: (*Model).keyQuit},
		{keys: []Key{"ctrl+z"}, does: "stop until the shell continues it", act: func(*Model) []Command { return []Command{Suspend{}} }},
	}
}

// keyTable maps keys to what they do.
func keyTable() map[Key]binding {
	t := map[Key]binding{}
	for _, b := range bindings() {
		for _, k := range slices.Concat(b.keys, b.quiet) {
			t[k] = b
		}
	}
	return t
}

// press does what a key does, and lets the cursor be seen.
func (m *Model) press(k Key) []Command {
	m.notice = ""
	commands := m.dispatch(k)
	m.follow()
	return commands
}

func (m *Model) dispatch(k Key) []Command {
	switch {
	case k == "ctrl+z":
		return []Command{Suspend{}}
	case k == "ctrl+c":
		return m.keyQuit()
	case m.ask != nil:
		return m.reply(k)
	case m.overlay != nil:
		return m.overlay.press(m, k)
	case m.filter.typing:
		return m.typeFilter(k)
	case m.tooSmall():
		if k == "q" || k == "esc" {
			return m.keyQuit()
		}
		return nil
	case len(k) == 1 && k[0] >= '1' && k[0] <= '9':
		return m.toPin(int(k[0] - '1'))
	}
	b, ok := m.keys[k]
	if !ok {
		return nil
	}
	for _, name := range b.keys {
		if reason, missing := m.o.Missing[name]; missing {
			m.notice = reason
			return nil
		}
	}
	if k == "ctrl+u" || k == "ctrl+d" {
		return m.step(map[Key]int{"ctrl+u": -1, "ctrl+d": 1}[k] * max(1, m.page()/2))
	}
	if m.cursor == nil && !strings.Contains("q esc ctrl+c @ ? r t", string(k)) {
		return nil
	}
	return b.act(m)
}

// reply answers the question. Whatever is no yes is a no.
func (m *Model) reply(k Key) []Command {
	q := m.ask
	m.ask = nil
	if k == "y" || k == "Y" {
		return q.yes()
	}
	return q.no()
}

func (m *Model) paste(text string) []Command {
	var commands []Command
	for _, r := range text {
		if r < ' ' || m.overlay == nil && !m.filter.typing {
			// Keys of the tree are commands: what was pasted by mistake gives none.
			continue
		}
		k := Key(string(r))
		if r == ' ' {
			k = "space"
		}
		commands = append(commands, m.dispatch(k)...)
	}
	m.follow()
	return commands
}
