package quickstart

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// progressEvery is after how many workspaces something is said.
const progressEvery = 25

// place is a workspace and how far below the organization it is.
type place struct {
	path  logicalcluster.Path
	depth int
}

// grow returns the workspaces of a random tree, each behind the one it is in.
func grow(org logicalcluster.Path, prefix string, count, depth int, random *rand.Rand) []place {
	tree := []place{{path: org}}
	// Those that may have workspaces in them.
	open := []place{tree[0]}
	for i := range count {
		parent := open[random.IntN(len(open))]
		child := place{path: parent.path.Join(fmt.Sprintf("%s-ws-%d", prefix, i+1)), depth: parent.depth + 1}
		tree = append(tree, child)
		if child.depth < depth {
			open = append(open, child)
		}
	}
	return tree[1:]
}

// workspaces makes many workspaces and returns where the organization is.
func (o *Options) workspaces(ctx context.Context, b *builder) (logicalcluster.Path, error) {
	org := b.org()
	seed := o.TreeSeed
	if seed == 0 {
		seed = time.Now().UnixNano()
	}
	b.step(1, 2, "Creating the organization")
	if err := b.announce(ctx, logicalcluster.Root.Path(), b.orgName(), organization); err != nil {
		return org, err
	}
	b.step(2, 2, fmt.Sprintf("Creating %d workspaces", o.TreeCount))
	start := time.Now()
	deepest, existing := 0, 0
	tree := grow(org, b.prefix, o.TreeCount, o.TreeDepth, rand.New(rand.NewPCG(uint64(seed), 0)))
	for i, p := range tree {
		parent, _ := p.path.Parent()
		existed, err := b.workspace(ctx, parent, p.path.Base(), universal)
		if err != nil {
			return org, err
		}
		deepest = max(deepest, p.depth)
		if existed {
			existing++
		}
		if (i+1)%progressEvery == 0 || i+1 == len(tree) {
			b.say("  %d of %d workspaces, %.0f/s, depth %d", i+1, len(tree), float64(i+1)/time.Since(start).Seconds(), deepest)
		}
	}
	if existing > 0 {
		b.say("  %d of them already existed", existing)
	}
	b.say(`
Done. This is what there is now:

  root
  +-- %s
      +-- %d workspaces, up to %d levels deep (--tree-seed %d makes the same tree again)

Try:

  kubectl ws tree -w :%s
  kubectl ws :%s

Remove it:

  kubectl kcp quickstart --name-prefix %s --cleanup`, b.orgName(), len(tree), deepest, seed, org, org, b.prefix)
	return org, nil
}
