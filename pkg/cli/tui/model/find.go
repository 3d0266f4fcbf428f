package model

import (
	"fmt"
	"slices"
	"strings"

	"github.com/forkless/kcp/pkg/cli/fuzzy"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// find picks a workspace by parts of its path, among those that are known and those that
// a walk over the tree comes across meanwhile.
type find struct {
	query string
	all   []Item
	known map[logicalcluster.Path]bool
	found []match
	// chosen is the index in found.
	chosen int
	seq    int
	done   bool
}

// match is a workspace that the query is about.
type match struct {
	item      Item
	score     int
	positions []int
}

func (m *Model) keyFind() []Command {
	f := &find{known: map[logicalcluster.Path]bool{}}
	for _, top := range m.tree.tops {
		top.each(func(n *node) { f.add(n.Item) })
	}
	f.search()
	m.overlay = f
	var commands []Command
	if top := m.tree.tops[0]; !top.Path.Empty() {
		f.seq = m.expect(func(msg Msg) []Command {
			answer := msg.(Found)
			for _, item := range answer.Items {
				f.add(item)
			}
			f.done = answer.Done
			f.search()
			return nil
		})
		commands = append(commands, Walk{Seq: f.seq, Top: top.Path})
	}
	return commands
}

func (f *find) add(item Item) {
	if item.Path.Empty() || f.known[item.Path] {
		return
	}
	f.known[item.Path] = true
	f.all = append(f.all, item)
}

// search finds what matches, the best first.
func (f *find) search() {
	var chosen logicalcluster.Path
	if f.chosen > 0 && f.chosen < len(f.found) {
		chosen = f.found[f.chosen].item.Path
	}
	f.found = f.found[:0]
	for _, item := range f.all {
		if score, positions, ok := fuzzy.Match(f.query, item.Path.String()); ok {
			f.found = append(f.found, match{item: item, score: score, positions: positions})
		}
	}
	slices.SortStableFunc(f.found, func(a, b match) int {
		if a.score != b.score {
			return b.score - a.score
		}
		return strings.Compare(a.item.Path.String(), b.item.Path.String())
	})
	// What was chosen stays chosen when others are found. The first one is chosen because
	// it is the first.
	f.chosen = max(0, slices.IndexFunc(f.found, func(o match) bool { return !chosen.Empty() && o.item.Path == chosen }))
}

func (f *find) press(m *Model, k Key) []Command {
	switch k {
	case "esc":
		m.overlay = nil
		return m.forget(f.seq)
	case "enter":
		return f.take(m)
	case "up", "ctrl+p", "shift+tab":
		f.scroll(m, -1)
	case "down", "ctrl+n", "tab":
		f.scroll(m, 1)
	case "pgup":
		f.scroll(m, -m.bodyHeight()/2)
	case "pgdown":
		f.scroll(m, m.bodyHeight()/2)
	default:
		if query, ok := edit(f.query, k); ok {
			f.query, f.chosen = query, 0
			f.search()
		}
	}
	return nil
}

func (f *find) scroll(_ *Model, rows int) {
	f.chosen = max(0, min(f.chosen+rows, len(f.found)-1))
}

// take puts the cursor on the chosen workspace.
func (f *find) take(m *Model) []Command {
	if f.chosen >= len(f.found) {
		return nil
	}
	m.overlay = nil
	return append(m.forget(f.seq), m.reveal(f.found[f.chosen].item.Path)...)
}

func (f *find) draw(m *Model, width, height int) (string, []string) {
	lines := []string{"> " + f.query + m.style(reverse, " ")}
	room := max(1, height-2)
	first := min(max(0, f.chosen-room+1), max(0, len(f.found)-room))
	for i := first; i < min(len(f.found), first+room); i++ {
		found := f.found[i]
		mark := "  "
		if i == f.chosen {
			mark = m.g().cursor + " "
		}
		line := mark + m.bold(found.item.Path.String(), found.positions)
		if width >= 60 {
			line = pad(line, width-34) + " " + pad(typeName(found.item.Type), 15) + m.phaseWord(&found.item)
		}
		lines = append(lines, m.cutEnd(line, width))
	}
	for len(lines) < height-1 {
		lines = append(lines, "")
	}
	state := "looking for more " + m.g().Ellipsis
	if f.done || f.seq == 0 {
		state = ""
	}
	return "Find", append(lines, m.style(faint, fmt.Sprintf("%d of %d   %s", len(f.found), len(f.all), state)))
}

func (f *find) keys() string { return "enter go there  up down choose  esc back" }
