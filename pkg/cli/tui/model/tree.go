package model

import (
	"slices"
	"strings"
	"time"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// node is a workspace in the tree.
type node struct {
	Item
	parent *node
	// children are in the order of their names, which is the server's.
	children []*node
	depth    int
	// home marks the node of the user's home workspace, which is below no other.
	home bool

	open bool
	load load
	// problem says in a line why what is below it cannot be shown.
	problem string
	// watch is the number of its watch, 0 if there is none.
	watch int
	// listing counts the lists of its children; a child has the count of the last list
	// that it was in. That tells what a list did not have.
	listing, seen int
	// retry is when it is tried again.
	retry time.Time

	// flash is until when a new row stands out.
	flash time.Time
	// row is where it was when the rows were counted the last time.
	row, counted int
	// hit says that it matches the filter, and is not just above something that does.
	hit bool
}

// load is what is known about what is below a node.
type load int

const (
	unasked load = iota
	asked
	loaded
	denied
	hidden
	lost
	broken
)

// leaf says that there is nothing below n to open.
func (n *node) leaf() bool {
	return n.load == hidden || n.load == loaded && len(n.children) == 0 || n.Path.Empty() && !n.home
}

// subject returns n as commands name it.
func (n *node) subject() Subject {
	s := Subject{Path: n.Path, Name: n.Name, Cluster: n.Cluster}
	if n.parent != nil {
		s.Parent = n.parent.Path
	} else if parent, ok := n.Path.Parent(); ok {
		s.Parent = parent
	}
	return s
}

// label is what is written for n.
func (n *node) label() string {
	if n.Mount != "" {
		return n.Name + " [m]"
	}
	return n.Name
}

// within says whether n is top or below it.
func (n *node) within(top *node) bool {
	for ; n != nil; n = n.parent {
		if n == top {
			return true
		}
	}
	return false
}

// shown says whether everything above n is open.
func (n *node) shown() bool {
	for p := n.parent; p != nil; p = p.parent {
		if !p.open {
			return false
		}
	}
	return true
}

// find returns the place of the child called name, and the child if there is one.
func (n *node) find(name string) (int, *node) {
	i, ok := slices.BinarySearchFunc(n.children, name, func(c *node, name string) int { return strings.Compare(c.Name, name) })
	if !ok {
		return i, nil
	}
	return i, n.children[i]
}

// isOther says whether item is another workspace than n, of the same name.
func (n *node) isOther(item Item) bool {
	differ := func(a, b string) bool { return a != "" && b != "" && a != b }
	return differ(n.Path.String(), item.Path.String()) || differ(n.Cluster, item.Cluster)
}

// put adds or changes a child, and says whether it is new.
func (n *node) put(item Item) (child *node, added bool) {
	i, child := n.find(item.Name)
	if child == nil {
		child = &node{Item: item, parent: n, depth: n.depth + 1}
		n.children = slices.Insert(n.children, i, child)
		return child, true
	}
	child.Item = item
	return child, false
}

// each calls f for n and everything that is known below it.
func (n *node) each(f func(*node)) {
	f(n)
	for _, c := range n.children {
		c.each(f)
	}
}

// tree is all that is known.
type tree struct {
	tops []*node
	// count is how many workspaces are known, below the tops and with them.
	count int

	rows []*node
	// stale says that rows are not those of the tree any more.
	stale bool
	// counts is how often the rows were counted.
	counts int
	// match is the filter, nil for none; hits are the rows that match.
	match func(*node) bool
	hits  []int
}

// changed says that rows have come or gone.
func (t *tree) changed() { t.stale = true }

// visible returns the rows.
func (t *tree) visible() []*node {
	if !t.stale {
		return t.rows
	}
	t.stale = false
	t.counts++
	t.rows, t.hits = t.rows[:0], t.hits[:0]
	for _, top := range t.tops {
		t.add(top)
	}
	for i, n := range t.rows {
		n.row, n.counted = i, t.counts
		if t.match != nil && n.hit {
			t.hits = append(t.hits, i)
		}
	}
	return t.rows
}

// add appends the rows of n. With a filter, what neither matches nor has something below
// that does is left out.
func (t *tree) add(n *node) (matches bool) {
	at := len(t.rows)
	t.rows = append(t.rows, n)
	n.hit = t.match != nil && t.match(n)
	matches = t.match == nil || n.hit
	if n.open {
		for _, c := range n.children {
			if t.add(c) {
				matches = true
			}
		}
	}
	if !matches {
		t.rows = t.rows[:at]
	}
	return matches
}

// rowOf returns the row of n, or false if it has none.
func (t *tree) rowOf(n *node) (int, bool) {
	rows := t.visible()
	if n == nil || n.counted != t.counts || n.row >= len(rows) || rows[n.row] != n {
		return 0, false
	}
	return n.row, true
}

// forget takes n, and what is below it, out of the count.
func (t *tree) forget(n *node) {
	n.each(func(*node) { t.count-- })
}

// at returns the node of the workspace p, nil if it is not known.
func (t *tree) at(p logicalcluster.Path) *node {
	var found *node
	if p.Empty() {
		return nil
	}
	for _, top := range t.tops {
		if top.Path == p {
			return top
		}
		if found = top.down(p); found != nil {
			return found
		}
	}
	return nil
}

// down follows the segments of p below n. Paths are what names lead to, except below
// mounts; nobody looks for those by path.
func (n *node) down(p logicalcluster.Path) *node {
	rest, ok := strings.CutPrefix(p.String(), n.Path.String()+":")
	if n.Path.Empty() || !ok {
		return nil
	}
	for name := range strings.SplitSeq(rest, ":") {
		if _, n = n.find(name); n == nil {
			return nil
		}
	}
	return n
}

// newTree returns what can be said without asking anybody: the way from the top of the
// tree to the workspace current.
func newTree(current logicalcluster.Path, home bool) (t *tree, cursor *node) {
	t = &tree{stale: true}
	if !current.Empty() {
		cursor = t.way(current)
	}
	if home {
		t.tops = append(t.tops, &node{home: true})
	}
	if cursor == nil && len(t.tops) > 0 {
		cursor = t.tops[0]
	}
	return t, cursor
}

// way adds the nodes that lead to p, all of them open, and returns the last one.
func (t *tree) way(p logicalcluster.Path) *node {
	var at *node
	for i, name := range p.Segments() {
		child := &node{Item: Item{Name: name}, parent: at, depth: i, open: true}
		if at == nil {
			child.Path = logicalcluster.Path{}.Join(name)
			t.tops = append(t.tops, child)
		} else {
			child.Path = at.Path.Join(name)
			at.children = append(at.children, child)
		}
		at = child
		t.count++
	}
	return at
}
