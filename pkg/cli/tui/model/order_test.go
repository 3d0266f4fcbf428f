package model

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/forkless/kcp/pkg/cli/display"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// chaos is a user, a server and a terminal that do anything at any time.
type chaos struct {
	*player
	random *rand.Rand
	// asked are commands that may be answered, as late as it pleases, and more than once.
	asked []Command
	names []string
}

// keysOfChaos are keys with and without meaning.
var keysOfChaos = []Key{
	"up", "down", "left", "right", "space", "enter", "esc", "g", "G", "pgup", "pgdown", "o", "O", "/", "n", "N", "f", "tab", "shift+tab",
	"c", "d", "w", "e", "s", "b", "p", "1", "2", "y", "Y", "@", "r", "t", "?", "backspace", "ctrl+u", "ctrl+w", "a", "x", "é", "ctrl+c", "F1",
}

func newChaos(t testing.TB, seed uint64) *chaos {
	c := &chaos{
		player: play(t, Options{
			Current: logicalcluster.MustParsePath("root:a:b"), Home: true, User: "me",
			Display: display.Display{Terminal: true, Color: seed%2 == 0, ASCII: seed%3 == 0},
			Pins:    []Pin{{"p", logicalcluster.MustParsePath("root:a:c:d")}, {"q", logicalcluster.MustParsePath("other:x")}},
		}),
		random: rand.New(rand.NewPCG(seed, seed)),
		names:  []string{"a", "b", "c", "d", "e"},
	}
	c.take()
	return c
}

// take remembers what was asked.
func (c *chaos) take() {
	c.asked = append(c.asked, c.commands...)
	if extra := len(c.asked) - 200; extra > 0 {
		c.asked = c.asked[extra:]
	}
	c.commands = nil
}

func (c *chaos) items(parent logicalcluster.Path) []Item {
	var items []Item
	for _, name := range c.names {
		if c.random.IntN(2) == 0 {
			continue
		}
		item := Item{Name: name, Path: parent.Join(name), Phase: []string{"Ready", "Initializing", "Terminating", "Odd"}[c.random.IntN(4)], Since: start}
		switch c.random.IntN(6) {
		case 0:
			item.Path = logicalcluster.Path{}
		case 1:
			item.Mount, item.Away = "Cluster/x", true
		case 2:
			item.Cluster = fmt.Sprintf("cluster%d", c.random.IntN(3))
		}
		items = append(items, item)
	}
	return items
}

// happen does something.
func (c *chaos) happen() {
	switch c.random.IntN(8) {
	case 0, 1, 2:
		c.send(keysOfChaos[c.random.IntN(len(keysOfChaos))])
	case 3:
		c.send(Size{c.random.IntN(220), c.random.IntN(60)})
	case 4:
		c.send(Wheel(c.random.IntN(9)-4), Paste("äb c"))
	default:
		if len(c.asked) > 0 {
			c.answerOne(c.asked[c.random.IntN(len(c.asked))])
		}
	}
	c.take()
}

// answerOne answers a command, or fails to.
func (c *chaos) answerOne(command Command) {
	problem := ""
	if c.random.IntN(4) == 0 {
		problem = "it did not work"
	}
	switch q := command.(type) {
	case Watch:
		switch c.random.IntN(4) {
		case 0:
			c.send(Lost{Seq: q.Seq, Why: Loss(c.random.IntN(5)), Problem: "lost", Retry: start.Add(time.Minute)})
		case 1:
			c.send(Changes{Seq: q.Seq, Now: c.items(q.Path), Gone: c.names[:c.random.IntN(3)]})
		default:
			c.send(Children{Seq: q.Seq, Items: c.items(q.Path), First: c.random.IntN(3) > 0, Last: c.random.IntN(3) > 0})
		}
	case Later:
		c.send(Elapsed{Now: c.now.Add(q.After), Msg: q.Msg})
	case Describe:
		c.send(Part{Seq: q.Seq, Of: Aspect(c.random.IntN(int(aspects))), Problem: problem, Details: Details{Exports: []Export{{Name: "x"}}, YAML: "a: b\n"}})
	case FindHome:
		c.send(Home{Seq: q.Seq, Path: logicalcluster.MustParsePath("1abc"), Problem: problem})
	case AskTypes:
		c.send(Types{Seq: q.Seq, Types: []string{"root:x"}, Problem: problem})
	case Create:
		c.send(Created{Seq: q.Seq, Problem: problem})
	case AskPreview:
		c.send(Preview{Seq: q.Seq, Text: "much", Problem: problem})
	case Delete:
		c.send(Deleted{Seq: q.Seq, Problem: problem})
	case AskWhy:
		c.send(Reasons{Seq: q.Seq, Text: "because", Problem: problem})
	case AskConsumers:
		c.send(Consumers{Seq: q.Seq, Clusters: []string{"cluster1"}, Problem: problem})
	case Walk:
		c.send(Found{Seq: q.Seq, Items: c.items(q.Top), Done: c.random.IntN(2) == 0})
	case TogglePin:
		c.send(Pinned{Pins: []Pin{{"p", q.Path}}, Problem: problem})
	case Edit, Shell:
		c.send(Returned{Problem: problem})
	}
}

// check holds what must be true whatever has happened.
func (c *chaos) check() {
	c.t.Helper()
	c.checkSize(c.View())
	count, watched := 0, 0
	for _, top := range c.tree.tops {
		top.each(func(n *node) {
			if !n.home || !n.Path.Empty() {
				count++
			}
			if n.watch == 0 {
				return
			}
			watched++
			if c.watches[n.watch] != n {
				c.t.Errorf("%s has the watch %d of another", n.Name, n.watch)
			}
			if !n.open || !n.shown() {
				c.t.Errorf("%s is watched, though it is closed or not shown", n.Name)
			}
		})
	}
	if watched != len(c.watches) {
		c.t.Errorf("%d nodes are watched, and %d watches remembered", watched, len(c.watches))
	}
	if count != c.tree.count {
		c.t.Errorf("there are %d workspaces, and %d were counted", count, c.tree.count)
	}
	if !c.inTree(c.cursor) {
		c.t.Errorf("the cursor is on %q, which is not in the tree", c.cursor.Name)
	}
}

func (c *chaos) inTree(n *node) bool {
	found := false
	for _, top := range c.tree.tops {
		top.each(func(o *node) { found = found || o == n })
	}
	return found
}

// TestAnyOrder lets anything happen in any order.
func TestAnyOrder(t *testing.T) {
	for seed := range uint64(100) {
		c := newChaos(t, seed)
		for range 150 {
			c.happen()
			c.check()
			if t.Failed() {
				t.Fatalf("with seed %d", seed)
			}
		}
	}
}

// FuzzOrder is TestAnyOrder with orders that the fuzzer finds.
func FuzzOrder(f *testing.F) {
	f.Add(uint64(1), uint16(100))
	f.Fuzz(func(t *testing.T, seed uint64, steps uint16) {
		c := newChaos(t, seed)
		for range min(steps, 2000) {
			c.happen()
			c.check()
		}
	})
}
