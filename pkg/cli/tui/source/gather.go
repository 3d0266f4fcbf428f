package source

import (
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/tui/model"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// gatherer gathers changes for a moment, so that many become one message. Of changes of
// one workspace the last one counts.
type gatherer struct {
	emit func(model.Changes)
	seq  int

	mu      sync.Mutex
	now     map[string]model.Item
	gone    map[string]bool
	pending *time.Timer
}

func gather(emit func(model.Changes), seq int) *gatherer {
	return &gatherer{emit: emit, seq: seq, now: map[string]model.Item{}, gone: map[string]bool{}}
}

// add takes a change in; flush tells it, at the latest after a moment.
func (g *gatherer) add(parent logicalcluster.Path, change client.Watched) {
	g.mu.Lock()
	defer g.mu.Unlock()
	name := change.Workspace.Name
	if change.Type == watch.Deleted {
		delete(g.now, name)
		g.gone[name] = true
	} else {
		// One that was deleted and has come again is gone first: it is another one.
		g.now[name] = ItemOf(parent, &change.Workspace)
	}
	if g.pending == nil {
		g.pending = time.AfterFunc(together, g.flush)
	}
}

// flush tells what was gathered.
func (g *gatherer) flush() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.pending == nil {
		return
	}
	g.pending.Stop()
	g.pending = nil
	message := model.Changes{Seq: g.seq}
	for _, name := range slices.Sorted(maps.Keys(g.now)) {
		message.Now = append(message.Now, g.now[name])
	}
	message.Gone = append(message.Gone, slices.Sorted(maps.Keys(g.gone))...)
	clear(g.now)
	clear(g.gone)
	// The lock is held meanwhile, so that messages come in the order of the changes.
	g.emit(message)
}
