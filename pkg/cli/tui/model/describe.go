package model

import "time"

// partState is how far a part of the details is.
type partState int

const (
	partUnasked partState = iota
	partAsked
	partKnown
	partFailed
)

// shownDetails are the details of the workspace under the cursor.
type shownDetails struct {
	Details
	node     *node
	seq      int
	asked    time.Time
	have     [aspects]partState
	problems [aspects]string
	// offset is the first line on the screen.
	offset int
}

// wantsDetails says whether there is a place for details.
func (m *Model) wantsDetails() bool {
	_, page := m.overlay.(*detailsPage)
	return m.twoPanes() || page
}

// moved makes the details be asked for when the cursor has rested for a moment.
func (m *Model) moved() []Command {
	commands := m.stopDescribing()
	m.details = shownDetails{node: m.cursor, seq: m.number()}
	if m.cursor == nil || m.cursor.Path.Empty() || !m.wantsDetails() {
		return commands
	}
	return append(commands, Later{After: rest, Msg: settled{seq: m.details.seq}})
}

// stopDescribing ends the questions that are on their way.
func (m *Model) stopDescribing() []Command {
	for _, have := range m.details.have {
		if have == partAsked {
			return []Command{Cancel{Seq: m.details.seq}}
		}
	}
	return nil
}

func (m *Model) onSettled(msg settled) []Command {
	if msg.seq != m.details.seq || !m.wantsDetails() {
		return nil
	}
	return m.describe()
}

// describe asks for the details, keeping those that are there until better ones come.
func (m *Model) describe() []Command {
	n := m.cursor
	if n == nil || n.Path.Empty() {
		return nil
	}
	commands := m.stopDescribing()
	d := &m.details
	if d.node != n {
		*d = shownDetails{node: n}
	}
	d.seq, d.asked = m.number(), m.now
	for a := range d.have {
		d.have[a] = partAsked
	}
	return append(commands, Describe{Seq: d.seq, Subject: n.subject()})
}

func (m *Model) onPart(msg Part) {
	d := &m.details
	if msg.Seq != d.seq {
		return
	}
	d.have[msg.Of], d.problems[msg.Of] = partKnown, msg.Problem
	if msg.Problem != "" {
		d.have[msg.Of] = partFailed
		return
	}
	switch msg.Of {
	case Overview:
		d.Facts, d.Conditions = msg.Details.Facts, msg.Details.Conditions
	case Bindings:
		d.Bindings = msg.Details.Bindings
	case Exports:
		d.Exports = msg.Details.Exports
	case Events:
		d.Events = msg.Details.Events
	case YAML:
		d.YAML = msg.Details.YAML
	}
}

// turn goes to another page of details. Where there is no room for them beside the tree,
// they are shown in place of it.
func (m *Model) turn(by int) []Command {
	if !m.wantsDetails() {
		m.overlay = &detailsPage{}
		return m.describe()
	}
	m.tab = Aspect((int(m.tab) + by + int(aspects)) % int(aspects))
	m.details.offset = 0
	return nil
}
