package model

import (
	"fmt"
	"strings"
	"time"

	"github.com/forkless/kcp/pkg/cli/display"
)

func cells(s string) int { return display.Cells(s) }

// header says what the cursor is on, and whether what is shown is still true.
func (m *Model) header() string {
	left := " "
	if m.twoPanes() {
		left = " kcp  "
	}
	path := m.place()
	for _, right := range m.status() {
		room := m.width - cells(left) - cells(right) - 3
		if room >= min(cells(path), 12) || right == "" {
			path = m.cut(path, max(4, room))
			gap := m.width - cells(left) - cells(path) - cells(right) - 1
			return left + m.style(strong, path) + strings.Repeat(" ", max(1, gap)) + right
		}
	}
	return m.cutEnd(left+path, m.width)
}

// place is the path of the workspace under the cursor.
func (m *Model) place() string {
	switch {
	case m.cursor == nil:
		return ""
	case !m.cursor.Path.Empty():
		return m.cursor.Path.String()
	case m.cursor.parent != nil:
		return m.cursor.parent.Path.Join(m.cursor.Name).String()
	default:
		return "~"
	}
}

// status is the right end of the header, the longest form first.
func (m *Model) status() []string {
	state := m.connectionWord()
	count := fmt.Sprintf("%d workspaces", m.tree.count)
	short := fmt.Sprintf("%d ws", m.tree.count)
	who := m.o.Server
	if m.o.User != "" {
		who = m.o.User + "@" + m.o.Server
	}
	if m.twoPanes() {
		return []string{state + "  " + count + "  " + who, state + "  " + count, state + "  " + short, state, ""}
	}
	bare := m.style(m.connectionRole(), m.connectionGlyph())
	return []string{state + "  " + short, state, bare, ""}
}

func (m *Model) connectionGlyph() string {
	if state, _ := m.connection(); state == live && m.o.Offline == "" {
		return m.g().Here
	}
	return m.g().Away
}

func (m *Model) connectionRole() display.Role {
	switch state, _ := m.connection(); state {
	case live:
		return okRole
	case reconnecting:
		return warningRole
	default:
		return faint
	}
}

// connectionWord says whether the tree is live.
func (m *Model) connectionWord() string {
	state, retry := m.connection()
	word := "connecting"
	switch {
	case m.o.Offline != "":
		word = "offline " + m.o.Offline
	case state == live:
		word = "live"
	case state == reconnecting:
		word = "reconnecting"
		if left := retry.Sub(m.now).Round(time.Second); left > 0 {
			word += fmt.Sprintf(" %ds", int(left.Seconds()))
		}
	}
	return m.style(m.connectionRole(), m.connectionGlyph()+" "+word)
}

// footer says what keys do, or what has happened, or asks something.
func (m *Model) footer() string {
	switch {
	case m.ask != nil:
		return m.fit(" "+m.cutEnd(m.ask.text, m.width-5)+" y/n", m.width)
	case m.overlay != nil && m.notice == "":
		return m.fit(" "+m.overlay.keys(), m.width)
	case m.filter.typing:
		return m.fit(" / "+m.filter.text+m.style(reverse, " ")+m.hits(), m.width)
	case m.notice != "":
		return m.fit(" "+m.notice, m.width)
	case m.filter.text != "":
		return m.fit(" / "+m.filter.text+m.hits()+"  n next  esc clear", m.width)
	}
	return m.keyLine()
}

func (m *Model) hits() string {
	m.tree.visible()
	if m.filter.text == "" {
		return "  part of a name or path"
	}
	return fmt.Sprintf("  %d match", len(m.tree.hits))
}

// keyLine names as many keys as there is room for.
func (m *Model) keyLine() string {
	hints := []string{"/ filter", "enter switch", "w why", "? keys"}
	switch {
	case m.twoPanes():
		hints = []string{"/ filter", "f find", "enter switch", "c create", "w why", "e edit", "y copy path", "@ log", "? keys"}
	case m.width < middleWidth:
		hints = []string{"enter switch", "? keys"}
	}
	line := " " + strings.Join(hints, "  ")
	const quit = "q quit"
	if gap := m.width - cells(line) - len(quit) - 1; gap > 0 {
		line += strings.Repeat(" ", gap) + quit
	}
	return m.fit(line, m.width)
}
