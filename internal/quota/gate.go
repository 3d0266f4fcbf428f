package quota

import (
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// gates let one at a time work on the quotas of a cluster, and charges that come in the
// meantime be made together: a charge is a write that everybody waits for. Who comes
// first works; the others wait until their work has been done for them or until it is
// their turn. Nothing is kept of clusters in which nobody works.
type gates map[logicalcluster.Name]*gate

type gate struct{ waiting []*turn }

// turn is somebody's work. charge is nil for those who want to be alone.
type turn struct {
	charge *charge
	// called with true says that it is their turn, and with false that it has been done.
	called chan bool
}

// enter waits for the turn of somebody, who then gets what charges wait beside it, or
// says that all is done.
func (l *Ledger) enter(cluster logicalcluster.Name, t *turn) (together []*turn, done bool) {
	l.mu.Lock()
	if g := l.gates[cluster]; g != nil {
		t.called = make(chan bool, 1)
		g.waiting = append(g.waiting, t)
		l.mu.Unlock()
		if mine := <-t.called; !mine {
			return nil, true
		}
		l.mu.Lock()
	} else {
		l.gates[cluster] = &gate{}
	}
	defer l.mu.Unlock()
	together = []*turn{t}
	if t.charge == nil {
		return together, false
	}
	g := l.gates[cluster]
	var others []*turn
	for _, other := range g.waiting {
		if other.charge != nil && len(together) < maxTogether {
			together = append(together, other)
		} else {
			others = append(others, other)
		}
	}
	g.waiting = others
	return together, false
}

// leave ends a turn and begins the next one.
func (l *Ledger) leave(cluster logicalcluster.Name, together []*turn) {
	for _, t := range together[1:] {
		t.called <- false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	g := l.gates[cluster]
	if len(g.waiting) == 0 {
		delete(l.gates, cluster)
		return
	}
	next := g.waiting[0]
	g.waiting = g.waiting[1:]
	next.called <- true
}
