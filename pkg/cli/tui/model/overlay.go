package model

import "strings"

// overlay is what is drawn in place of the tree, and takes the keys.
type overlay interface {
	press(m *Model, k Key) []Command
	// scroll moves what is shown by rows.
	scroll(m *Model, rows int)
	// draw returns the title and the lines, which may be more than height.
	draw(m *Model, width, height int) (title string, lines []string)
	// keys are the keys of the overlay for the last line.
	keys() string
}

// scroller is a part of overlays that show more lines than there may be room for.
type scroller struct{ offset int }

func (s *scroller) scroll(_ *Model, rows int) { s.offset = max(0, s.offset+rows) }

// scrollKey moves by a key, and says whether it was one for that.
func (s *scroller) scrollKey(m *Model, k Key) bool {
	switch k {
	case "up", "k":
		s.scroll(m, -1)
	case "down", "j":
		s.scroll(m, 1)
	case "pgup", "ctrl+u":
		s.scroll(m, -m.bodyHeight()/2)
	case "pgdown", "ctrl+d", "space":
		s.scroll(m, m.bodyHeight()/2)
	case "home", "g":
		s.offset = 0
	case "end", "G":
		s.offset = int(^uint(0) >> 2)
	default:
		return false
	}
	return true
}

// window returns the lines that fit, after keeping the offset within them.
func (s *scroller) window(lines []string, height int) []string {
	s.offset = min(s.offset, max(0, len(lines)-height))
	return lines[s.offset:min(len(lines), s.offset+height)]
}

// close takes the overlay away.
func (m *Model) close() []Command {
	m.overlay = nil
	return nil
}

// detailsPage shows the details where there is no room beside the tree.
type detailsPage struct{}

func (p *detailsPage) press(m *Model, k Key) []Command {
	switch k {
	case "esc", "q", "left", "h":
		return m.close()
	case "tab", "right", "l":
		return m.turn(1)
	case "shift+tab":
		return m.turn(-1)
	case "r":
		return m.describe()
	}
	s := scroller{m.details.offset}
	s.scrollKey(m, k)
	m.details.offset = s.offset
	return nil
}

func (p *detailsPage) scroll(m *Model, rows int) {
	m.details.offset = max(0, m.details.offset+rows)
}

func (p *detailsPage) draw(m *Model, width, height int) (string, []string) {
	return m.detailsTitle(), m.detailLines(width, height)
}

func (p *detailsPage) keys() string { return "tab next page  r reload  esc back" }

// help lists the keys.
type help struct{ scroller }

func (m *Model) keyHelp() []Command {
	m.overlay = &help{}
	return nil
}

func (h *help) press(m *Model, k Key) []Command {
	if h.scrollKey(m, k) {
		return nil
	}
	if k == "esc" || k == "q" || k == "?" {
		return m.close()
	}
	return nil
}

func (h *help) draw(m *Model, width, height int) (string, []string) {
	var lines []string
	for _, b := range bindings() {
		keys := make([]string, len(b.keys))
		for i, k := range b.keys {
			keys[i] = string(k)
		}
		line := pad(strings.Join(keys, " "), 20) + b.does
		for _, k := range b.keys {
			if reason := m.o.Missing[k]; reason != "" {
				line = pad(strings.Join(keys, " "), 20) + m.style(faint, reason)
			}
		}
		if b.command != "" && width >= 76 {
			line = pad(line, width-32) + m.style(faint, b.command)
		}
		lines = append(lines, line)
	}
	return "Keys", h.window(lines, height)
}

func (h *help) keys() string { return "up down scroll  esc back" }

// requestLog shows the requests that were made, the latest last.
type requestLog struct {
	scroller
	// stays says that somebody has scrolled up, so that it does not follow.
	stays bool
}

func (m *Model) keyLog() []Command {
	m.overlay = &requestLog{}
	return nil
}

func (l *requestLog) press(m *Model, k Key) []Command {
	if l.scrollKey(m, k) {
		l.stays = k != "end" && k != "G"
		return nil
	}
	if k == "esc" || k == "q" || k == "@" {
		return m.close()
	}
	return nil
}

func (l *requestLog) draw(m *Model, _, height int) (string, []string) {
	lines := make([]string, len(m.log))
	for i, r := range m.log {
		lines[i] = m.requestLine(r)
	}
	if !l.stays {
		l.offset = len(lines)
	}
	return "Requests", l.window(lines, height)
}

func (l *requestLog) keys() string { return "up down scroll  end follow  esc back" }
