package model

import (
	"unicode"
	"unicode/utf8"
)

// rows is how many candidates are shown at a time.
const rows = 10

// The keys that mean something, as terminals name them. Others are typed.
const (
	KeyEnter     = "enter"
	KeyEscape    = "esc"
	KeyInterrupt = "ctrl+c"
	KeyTree      = "ctrl+t"
	KeyTab       = "tab"
)

// Answer is what somebody wants.
type Answer int

// The answers.
const (
	// None is that nothing was decided yet.
	None Answer = iota
	// Pick is that the selected workspace was picked.
	Pick
	// Tree is that the tree is to be opened at the selected workspace.
	Tree
	// Leave is that nothing is to be done.
	Leave
)

// Options are how a picker is.
type Options struct {
	// Query is what has been typed already. If exactly one workspace fits it when all are
	// known, that one is picked.
	Query string
	// Print says that the workspace is printed and not switched to.
	Print bool
	// Tree says that there is a tree to open.
	Tree bool
}

// Model is a picker.
type Model struct {
	options    Options
	candidates Candidates
	query      string
	matches    []Match
	// selected is the index of a match, first that of the first one that is shown.
	selected, first int
	// touched says that a key was pressed, complete that all workspaces are known.
	touched, complete bool
	// trouble says why they cannot all be found.
	trouble string
}

// New returns a picker that knows of no workspaces.
func New(options Options) *Model { return &Model{options: options, query: options.Query} }

// Add takes in what was found.
func (m *Model) Add(found ...Candidate) {
	m.candidates.Add(found...)
	m.match()
}

// Complete takes in that there are no more candidates, and why if something is amiss. One
// workspace that alone fits what the picker was called with is picked.
func (m *Model) Complete(trouble string) Answer {
	m.complete, m.trouble = true, trouble
	if m.options.Query != "" && !m.touched && len(m.matches) == 1 {
		return Pick
	}
	return None
}

// Picked returns the selected candidate. ok is false if there is none.
func (m *Model) Picked() (candidate Candidate, ok bool) {
	if m.selected >= len(m.matches) {
		return Candidate{}, false
	}
	return *m.matches[m.selected].Candidate, true
}

// Key takes in a key.
func (m *Model) Key(key string) Answer {
	m.touched = true
	switch key {
	case KeyEscape, KeyInterrupt:
		return Leave
	case KeyEnter:
		return m.ifPicked(Pick)
	case KeyTree:
		if m.options.Tree {
			return m.ifPicked(Tree)
		}
	case KeyTab:
		m.edit(Completed(m.query, m.matches))
	case "up", "ctrl+p", "ctrl+k":
		m.move(-1)
	case "down", "ctrl+n", "ctrl+j":
		m.move(1)
	case "pgup":
		m.move(-rows)
	case "pgdown":
		m.move(rows)
	case "home":
		m.move(-len(m.matches))
	case "end":
		m.move(len(m.matches))
	case "backspace", "ctrl+h":
		_, size := utf8.DecodeLastRuneInString(m.query)
		m.edit(m.query[:len(m.query)-size])
	case "ctrl+u":
		m.edit("")
	case "ctrl+w", "alt+backspace":
		m.edit(withoutWord(m.query))
	case "space":
		// Paths have none, so it would only keep everything from fitting.
	default:
		if utf8.RuneCountInString(key) == 1 {
			m.Type(key)
		}
	}
	return None
}

// Type takes in text that was typed or pasted.
func (m *Model) Type(text string) {
	m.touched = true
	typed := m.query
	for _, r := range text {
		if unicode.IsGraphic(r) && !unicode.IsSpace(r) {
			typed += string(r)
		}
	}
	m.edit(typed)
}

func (m *Model) ifPicked(a Answer) Answer {
	if _, ok := m.Picked(); !ok {
		return None
	}
	return a
}

// edit changes what is typed. The best match is selected then.
func (m *Model) edit(query string) {
	if query == m.query {
		return
	}
	m.query = query
	m.selected, m.first = 0, 0
	m.matches = m.candidates.Match(m.query)
}

// match finds the matches among new candidates. What somebody has moved to stays selected.
func (m *Model) match() {
	selected, ok := m.Picked()
	m.matches = m.candidates.Match(m.query)
	if !ok || m.selected == 0 {
		return
	}
	for i := range m.matches {
		if m.matches[i].Path == selected.Path {
			m.selected = i
			m.scroll()
			return
		}
	}
}

func (m *Model) move(by int) {
	m.selected = max(0, min(m.selected+by, len(m.matches)-1))
	m.scroll()
}

// scroll shows the selected one.
func (m *Model) scroll() {
	m.first = max(min(m.first, m.selected), m.selected-rows+1)
}

// withoutWord returns s without its last name.
func withoutWord(s string) string {
	isSeparator := func(b byte) bool { return b == ':' || b == '/' || b == '-' }
	end := len(s)
	for end > 0 && isSeparator(s[end-1]) {
		end--
	}
	for end > 0 && !isSeparator(s[end-1]) {
		end--
	}
	return s[:end]
}
