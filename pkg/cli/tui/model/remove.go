package model

import "strings"

// remove shows what would go with a workspace, and deletes it when its name was typed.
type remove struct {
	scroller
	subject Subject
	preview *Preview
	typed   string
	problem string
	seq     int
	sent    bool
}

func (m *Model) keyDelete() []Command {
	n := m.cursor
	switch {
	case n.Path.Empty() && n.parent == nil, n.subject().Parent.Empty():
		m.notice = n.title(m.o.User) + " cannot be deleted from here"
		return nil
	case n.leaving():
		m.notice = n.Name + " is being deleted"
		return nil
	}
	r := &remove{subject: n.subject()}
	m.overlay = r
	r.seq = m.expect(func(msg Msg) []Command {
		answer := msg.(Preview)
		r.preview, r.problem = &answer, answer.Problem
		return nil
	})
	return []Command{AskPreview{Seq: r.seq, Subject: r.subject}}
}

func (r *remove) press(m *Model, k Key) []Command {
	switch k {
	case "esc":
		m.overlay = nil
		if r.sent {
			// The request is on its way; what comes of it is said later.
			return nil
		}
		return m.forget(r.seq)
	case "enter":
		return r.send(m)
	case "up", "down", "pgup", "pgdown":
		r.scrollKey(m, k)
		return nil
	}
	if r.preview == nil || r.sent {
		return nil
	}
	if typed, ok := edit(r.typed, k); ok {
		r.typed, r.problem = typed, ""
	}
	return nil
}

func (r *remove) send(m *Model) []Command {
	if r.preview == nil || r.preview.Problem != "" || r.sent {
		return nil
	}
	if r.typed != r.subject.Name {
		r.problem = "that is not the name of the workspace, so nothing was deleted"
		r.typed = ""
		return nil
	}
	r.sent, r.problem = true, ""
	r.seq = m.expect(func(msg Msg) []Command {
		answer := msg.(Deleted)
		r.sent, r.problem, r.typed = false, answer.Problem, ""
		switch {
		case answer.Problem == "":
			m.notice = r.subject.Path.String() + " is being deleted"
			if m.overlay == r {
				m.overlay = nil
			}
		case m.overlay != r:
			m.notice = answer.Problem
		}
		return nil
	})
	return []Command{Delete{Seq: r.seq, Subject: r.subject}}
}

func (r *remove) draw(m *Model, width, height int) (string, []string) {
	title := "Delete " + r.subject.Path.String()
	if r.preview == nil {
		return title, []string{m.style(faint, "counting what is in it "+m.g().Ellipsis)}
	}
	var lines []string
	if text := strings.TrimRight(r.preview.Text, "\n"); text != "" {
		lines = m.wrap(strings.Split(text, "\n"), width)
	}
	if r.preview.Protected != "" {
		lines = append(lines, m.wrap([]string{m.style(warningRole, "protected: "+r.preview.Protected)}, width)...)
	}
	var tail []string
	if r.problem != "" {
		tail = m.wrap([]string{m.style(failedRole, "error: "+r.problem)}, width)
	}
	switch {
	case r.sent:
		tail = append(tail, m.style(faint, "deleting "+m.g().Ellipsis))
	case r.preview.Problem == "":
		tail = append(tail, "Type "+r.subject.Name+" to delete all of this: "+r.typed+m.style(reverse, " "))
	}
	return title, append(r.window(lines, max(1, height-len(tail))), tail...)
}

func (r *remove) keys() string { return "enter delete  esc back" }
