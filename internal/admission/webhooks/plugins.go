package webhooks

import (
	"context"
	"sync"
	"time"

	"github.com/forkless/kcp/internal/admission/informers"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// keptIdle is how long a plugin is kept that nobody uses, if there are others.
const keptIdle = time.Minute

// create makes a plugin that asks the webhooks of owner about objects in the cluster that
// here says, until ctx ends.
type create[P any] func(ctx context.Context, owner logicalcluster.Name, here informers.Where) (P, error)

// plugins are upstream's plugins for the webhooks of one cluster. Each is used in one
// cluster at a time, by any number of requests; when it is used no more it is there for
// another cluster.
type plugins[P any] struct {
	ctx    context.Context
	create func(ctx context.Context, here informers.Where) (P, error)

	mu  sync.Mutex
	all []*placed[P]
	// dropping says that idle ones will be looked for.
	dropping bool
}

// placed is a plugin in the cluster that it is used in, or was last.
type placed[P any] struct {
	plugin P
	end    context.CancelFunc

	// They are held under the lock of plugins, but for here, which does not change while
	// there are users.
	here  logicalcluster.Name
	users int
	idle  time.Time
}

// open returns what makes the plugins of a cluster.
func open[P any](create create[P]) func(ctx context.Context, owner logicalcluster.Name) (*plugins[P], error) {
	return func(ctx context.Context, owner logicalcluster.Name) (*plugins[P], error) {
		p := &plugins[P]{ctx: ctx, create: func(ctx context.Context, here informers.Where) (P, error) {
			return create(ctx, owner, here)
		}}
		// The first is made at once, so that an error is found where others are.
		_, done, err := p.take(owner)
		if err != nil {
			return nil, err
		}
		done()
		return p, nil
	}
}

// take returns a plugin that is to be used in a cluster, and what says that it is not used
// any more.
func (p *plugins[P]) take(here logicalcluster.Name) (plugin P, done func(), err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	taken := p.find(here)
	if taken == nil {
		if taken, err = p.add(); err != nil {
			return plugin, nil, err
		}
	}
	if taken.users == 0 {
		taken.here = here
	}
	taken.users++
	return taken.plugin, func() { p.giveBack(taken) }, nil
}

// find returns a plugin that is used in a cluster, or else by nobody: nil if there is none.
// Of several that nobody uses the one is best that was there before.
func (p *plugins[P]) find(here logicalcluster.Name) *placed[P] {
	var unused *placed[P]
	for _, candidate := range p.all {
		switch {
		case candidate.here == here:
			return candidate
		case candidate.users == 0 && (unused == nil || candidate.idle.After(unused.idle)):
			unused = candidate
		}
	}
	return unused
}

// add makes another plugin. Others wait meanwhile, some milliseconds: most of them need
// one, too, and may find that it is not used any more.
func (p *plugins[P]) add() (*placed[P], error) {
	ctx, end := context.WithCancel(p.ctx)
	added := &placed[P]{end: end}
	plugin, err := p.create(ctx, func() logicalcluster.Name { return added.here })
	if err != nil {
		end()
		return nil, err
	}
	added.plugin = plugin
	p.all = append(p.all, added)
	return added, nil
}

func (p *plugins[P]) giveBack(taken *placed[P]) {
	p.mu.Lock()
	defer p.mu.Unlock()
	taken.users--
	taken.idle = time.Now()
	p.dropLater()
}

// dropLater sees to it that plugins go that are not needed any more. The caller holds mu.
func (p *plugins[P]) dropLater() {
	if p.dropping || len(p.all) < 2 || p.ctx.Err() != nil {
		return
	}
	p.dropping = true
	time.AfterFunc(keptIdle, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.dropping = false
		p.drop(time.Now().Add(-keptIdle))
		p.dropLater()
	})
}

// drop drops the plugins that nobody has used since, but for the last one. The caller holds
// mu.
func (p *plugins[P]) drop(since time.Time) {
	kept := p.all[:0]
	for i, candidate := range p.all {
		last := len(kept) == 0 && i == len(p.all)-1
		if candidate.users > 0 || candidate.idle.After(since) || last {
			kept = append(kept, candidate)
			continue
		}
		candidate.end()
	}
	clear(p.all[len(kept):])
	p.all = kept
}
