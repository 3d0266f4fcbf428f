package model

import (
	"strings"
	"time"
)

// whyRefresh is how often the question is asked again.
const whyRefresh = 2 * time.Second

// why shows why a workspace is not ready, as long as it is open.
type why struct {
	scroller
	subject Subject
	text    string
	problem string
	seq     int
}

func (m *Model) keyWhy() []Command {
	if m.cursor.Path.Empty() {
		m.notice = "nothing is known yet about " + m.cursor.title(m.o.User)
		return nil
	}
	w := &why{subject: m.cursor.subject()}
	m.overlay = w
	return w.ask(m)
}

func (w *why) ask(m *Model) []Command {
	w.seq = m.expect(func(msg Msg) []Command {
		switch msg := msg.(type) {
		case Reasons:
			w.problem = msg.Problem
			if msg.Problem == "" {
				w.text = msg.Text
			}
		}
		// The next question is asked a while after this answer, so that a slow server
		// gets fewer.
		w.seq = m.expect(func(Msg) []Command { return w.ask(m) })
		return []Command{Later{After: whyRefresh, Msg: again{seq: w.seq}}}
	})
	return []Command{AskWhy{Seq: w.seq, Subject: w.subject, Width: m.textWidth()}}
}

func (w *why) press(m *Model, k Key) []Command {
	if w.scrollKey(m, k) {
		return nil
	}
	if k == "esc" || k == "q" || k == "w" {
		m.overlay = nil
		return m.forget(w.seq)
	}
	return nil
}

func (w *why) draw(m *Model, width, height int) (string, []string) {
	var lines []string
	switch {
	case w.text == "" && w.problem == "":
		lines = []string{m.style(faint, "looking "+m.g().Ellipsis)}
	case w.text != "":
		lines = m.wrap(strings.Split(strings.TrimRight(w.text, "\n"), "\n"), width)
	}
	if w.problem != "" {
		lines = append(lines, m.wrap([]string{m.style(failedRole, "error: "+w.problem)}, width)...)
	}
	return "Why " + w.subject.Path.String(), w.window(lines, height)
}

func (w *why) keys() string { return "up down scroll  esc back" }
