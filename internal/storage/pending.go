package storage

import (
	"context"
	"sync"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// pending are the batches that are being written to a store, by cluster. Somebody may read
// one of their objects before the others are known to be there: the stores of a batch
// hear of it at different times. Whoever lists what is current waits for them.
type pending struct {
	mu      sync.Mutex
	batches map[logicalcluster.Name][]*Batch
}

func (p *pending) begin(cluster logicalcluster.Name, b *Batch) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.batches == nil {
		p.batches = map[logicalcluster.Name][]*Batch{}
	}
	p.batches[cluster] = append(p.batches[cluster], b)
}

func (p *pending) end(cluster logicalcluster.Name, b *Batch) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var left []*Batch
	for _, other := range p.batches[cluster] {
		if other != b {
			left = append(left, other)
		}
	}
	if len(left) == 0 {
		delete(p.batches, cluster)
		return
	}
	p.batches[cluster] = left
}

// wait waits until the batches are over that are being written to a cluster now, or to
// any for the wildcard.
func (p *pending) wait(ctx context.Context, cluster logicalcluster.Name) {
	for _, b := range p.of(cluster) {
		select {
		case <-b.over:
		case <-ctx.Done():
			return
		}
	}
}

func (p *pending) of(cluster logicalcluster.Name) []*Batch {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !cluster.IsWildcard() {
		return p.batches[cluster]
	}
	var all []*Batch
	for _, batches := range p.batches {
		all = append(all, batches...)
	}
	return all
}

// place is a cluster in a store.
type place struct {
	store   *store
	cluster logicalcluster.Name
}

// begin says in all places that the batch is being written, and returns what says that it
// is over.
func (b *Batch) begin() (end func()) {
	b.over = make(chan struct{})
	for at := range b.places {
		at.store.pending.begin(at.cluster, b)
	}
	return func() {
		for at := range b.places {
			at.store.pending.end(at.cluster, b)
		}
		close(b.over)
	}
}

// touches notes that the next write is to a cluster in a store, which is nil if it is not
// open.
func (b *Batch) touches(s *store, cluster logicalcluster.Name) {
	b.touched = append(b.touched, s)
	if s != nil {
		b.places[place{s, cluster}] = struct{}{}
	}
}
