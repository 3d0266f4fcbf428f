package maintainedbindings

import (
	"fmt"
	"testing"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

func named(format string, i int) logicalcluster.Name {
	return logicalcluster.MustParseName(fmt.Sprintf(format, i))
}

func TestBacklogIsFair(t *testing.T) {
	var b backlog
	for i := range 3 * portion {
		b.add("root:large", named("large%d", i))
	}
	b.add("root:small", named("small%d", 0))
	first := b.next()
	if len(first) != portion+1 || first[portion] != named("small%d", 0) {
		t.Errorf("the few of one type wait for the many of another: %d at first, the last is %s", len(first), first[len(first)-1])
	}
	// The type changes again and again while its workspaces are still to be looked at.
	for range 10 {
		for i := range 3 * portion {
			b.add("root:large", named("large%d", i))
		}
	}
	seen := map[logicalcluster.Name]int{}
	for range 10 {
		for _, cluster := range b.next() {
			seen[cluster]++
		}
	}
	for i := range 3 * portion {
		if n := seen[named("large%d", i)]; n != 1 {
			t.Fatalf("large%d is looked at %d times", i, n)
		}
	}
	if !b.empty() || len(b.next()) != 0 {
		t.Error("something is left of what has been looked at")
	}
}

func TestBacklogTurn(t *testing.T) {
	var b backlog
	for i := range portion + 1 {
		b.add("root:t", named("c%d", i))
	}
	b.next()
	// Those whose turn is still to come come first, whoever is added meanwhile.
	b.add("root:t", named("c%d", 0))
	if got := b.next(); len(got) != 2 || got[0] != named("c%d", portion) || got[1] != named("c%d", 0) {
		t.Errorf("got %v", got)
	}
}
