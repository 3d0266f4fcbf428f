package maintainedbindings

import (
	"slices"
	"strings"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// portion is how many workspaces of a type are looked at before it is the next type's turn.
const portion = 64

// backlog are the workspaces that sweeps have found and that are still to be looked at. It
// is for one goroutine at a time.
type backlog struct{ groups []*group }

// group are the workspaces of a type.
type group struct {
	// typeName is the annotation by which their LogicalClusters name the type.
	typeName string
	clusters []logicalcluster.Name
	waiting  map[logicalcluster.Name]struct{}
}

// add adds a workspace, unless it waits already: what changes all the time must not keep
// those at the end of the line from ever being looked at.
func (b *backlog) add(typeName string, cluster logicalcluster.Name) {
	// Types that come from user input, and as many as they like: a search must be quick.
	at, found := slices.BinarySearchFunc(b.groups, typeName, func(g *group, name string) int { return strings.Compare(g.typeName, name) })
	if !found {
		b.groups = slices.Insert(b.groups, at, &group{typeName: typeName, waiting: map[logicalcluster.Name]struct{}{}})
	}
	g := b.groups[at]
	if _, waits := g.waiting[cluster]; waits {
		return
	}
	g.waiting[cluster] = struct{}{}
	g.clusters = append(g.clusters, cluster)
}

// next takes a portion of every type.
func (b *backlog) next() []logicalcluster.Name {
	var taken []logicalcluster.Name
	for _, g := range b.groups {
		n := min(portion, len(g.clusters))
		for _, cluster := range g.clusters[:n] {
			delete(g.waiting, cluster)
		}
		taken = append(taken, g.clusters[:n]...)
		g.clusters = g.clusters[n:]
	}
	b.groups = slices.DeleteFunc(b.groups, func(g *group) bool { return len(g.clusters) == 0 })
	return taken
}

func (b *backlog) empty() bool { return len(b.groups) == 0 }
