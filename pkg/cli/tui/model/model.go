package model

import (
	"time"

	"github.com/forkless/kcp/pkg/cli/display"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

const (
	// rest is how long the cursor stays on a workspace until its details are asked for.
	rest = 150 * time.Millisecond
	// flashing is how long a new row stands out.
	flashing = 600 * time.Millisecond
	// pulse is how often the clock is looked at.
	pulse = time.Second
	// refresh is how often details are asked for again while their workspace is not ready.
	refresh = 5 * time.Second
	// logged bounds the log of requests.
	logged = 500
)

// Options are what a model starts with: all that is known without asking anybody.
type Options struct {
	Display display.Display
	// Current is the current workspace, zero if there is none.
	Current logicalcluster.Path
	// Start is the workspace that the cursor begins at, zero for the current one.
	Start logicalcluster.Path
	// Server is the host that the header names, and User who asks it.
	Server, User string
	Now          time.Time
	Pins         []Pin
	// Clipboard says that the terminal takes text for the clipboard.
	Clipboard bool
	// Offline names the file that is shown in place of a server, which can be read only.
	Offline string
	// Home offers the home workspace of the user.
	Home bool
	// Missing are the keys that cannot be served, with the reason.
	Missing map[Key]string
}

// Model is the live tree. See the package comment for what it does and does not.
type Model struct {
	o    Options
	keys map[Key]binding
	now  time.Time
	// width and height are those of the terminal, 0 until it has said so.
	width, height int

	tree   *tree
	cursor *node
	// offset is the first row on the screen.
	offset  int
	columns columnSet
	// widest and widestKind are the widest label and type that were shown, so that columns
	// stay where they are.
	widest, widestKind int

	tab     Aspect
	details shownDetails

	filter  filter
	overlay overlay
	// notice is said in place of the keys until the next one is pressed.
	notice string
	ask    *question

	seq     int
	watches map[int]*node
	// answers are the handlers of commands that have not been answered.
	answers map[int]func(Msg) []Command

	marked map[string]bool
	marks  string
	log    []Request
	// branch is what is being opened as a whole.
	branch *branch
	prints []string
}

// New returns a model.
func New(o Options) *Model {
	start := o.Start
	if start.Empty() {
		start = o.Current
	}
	m := &Model{o: o, keys: keyTable(), now: o.Now, watches: map[int]*node{}, answers: map[int]func(Msg) []Command{}}
	m.tree, m.cursor = newTree(start, o.Home)
	return m
}

// Start returns what has to be done first.
func (m *Model) Start() []Command {
	commands := []Command{Later{After: pulse, Msg: nextBeat{}}}
	for _, top := range m.tree.tops {
		commands = append(commands, m.watchBelow(top)...)
	}
	return append(commands, m.moved()...)
}

// nextBeat is when everything that shows times is drawn anew.
type nextBeat struct{}

// Update takes in what happened and returns what is to be done.
func (m *Model) Update(msg Msg) []Command {
	switch msg := msg.(type) {
	case Size:
		return m.resize(msg)
	case Key:
		return m.press(msg)
	case Paste:
		return m.paste(string(msg))
	case Wheel:
		return m.wheel(int(msg))
	case Elapsed:
		m.now = msg.Now
		return m.Update(msg.Msg)
	case nextBeat:
		return m.beat()
	case Children:
		return m.onChildren(msg)
	case Changes:
		return m.onChanges(msg)
	case Lost:
		return m.onLost(msg)
	case Live:
		if n := m.watches[msg.Seq]; n != nil {
			m.revive(n)
		}
	case settled:
		return m.onSettled(msg)
	case Part:
		m.onPart(msg)
	case User:
		m.o.User = msg.Name
		m.tree.changed()
	case Pinned:
		m.onPinned(msg)
	case Requested:
		m.onRequested(msg)
	case Returned:
		m.notice = msg.Problem
	default:
		return m.answer(msg)
	}
	return nil
}

// number returns one that no command has had.
func (m *Model) number() int {
	m.seq++
	return m.seq
}

// expect returns the number for a command whose answer goes to handle.
func (m *Model) expect(handle func(Msg) []Command) int {
	seq := m.number()
	m.answers[seq] = handle
	return seq
}

// answer gives an answer to whoever asked, if they still want to know.
func (m *Model) answer(msg Msg) []Command {
	seq, last := 0, true
	switch msg := msg.(type) {
	case Home:
		seq = msg.Seq
	case Types:
		seq = msg.Seq
	case Created:
		seq = msg.Seq
	case Preview:
		seq = msg.Seq
	case Deleted:
		seq = msg.Seq
	case Reasons:
		seq = msg.Seq
	case Consumers:
		seq = msg.Seq
	case Found:
		seq, last = msg.Seq, msg.Done
	case again:
		seq = msg.seq
	}
	handle := m.answers[seq]
	if handle == nil {
		return nil
	}
	if last {
		delete(m.answers, seq)
	}
	return handle(msg)
}

// again is an answer that a model gives itself, later.
type again struct{ seq int }

// forget drops the answer to a command that is not wanted any more.
func (m *Model) forget(seq int) []Command {
	if seq == 0 || m.answers[seq] == nil {
		return nil
	}
	delete(m.answers, seq)
	return []Command{Cancel{Seq: seq}}
}

func (m *Model) resize(size Size) []Command {
	wide := m.twoPanes()
	m.width, m.height = size.Width, size.Height
	m.widest, m.widestKind = 0, 0
	m.follow()
	if m.twoPanes() && !wide {
		return m.moved()
	}
	return nil
}

func (m *Model) beat() []Command {
	commands := []Command{Later{After: pulse, Msg: nextBeat{}}}
	if d := &m.details; d.node != nil && m.wantsDetails() && !d.node.settled() && m.now.Sub(d.asked) > refresh {
		commands = append(commands, m.describe()...)
	}
	return commands
}

func (m *Model) onRequested(requests Requested) {
	m.log = append(m.log, requests...)
	if extra := len(m.log) - logged; extra > 0 {
		m.log = append(m.log[:0], m.log[extra:]...)
	}
}

func (m *Model) onPinned(msg Pinned) {
	if msg.Problem != "" {
		m.notice = msg.Problem
		return
	}
	m.o.Pins, m.notice = msg.Pins, msg.Said
}

// question is something that is answered by y or n.
type question struct {
	text string
	yes  func() []Command
	no   func() []Command
}
