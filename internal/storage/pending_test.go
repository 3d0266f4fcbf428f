package storage

import (
	"context"
	"testing"
	"time"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// TestListsWaitForBatches: who has read one object of a batch finds the others. The
// stores of a batch hear of it at different times, and the batch says which version it
// has written when all have.
func TestListsWaitForBatches(t *testing.T) {
	one, two := logicalcluster.MustParseName("one"), logicalcluster.MustParseName("two")
	s := &store{}
	b := &Batch{places: map[place]struct{}{}}
	b.touches(s, one)
	b.touches(nil, one)
	b.touches(s, one)
	end := b.begin()

	for reason, test := range map[string]struct {
		cluster logicalcluster.Name
		waits   bool
	}{
		"what is listed may be part of the batch":    {one, true},
		"the wildcard lists that too":                {logicalcluster.Wildcard, true},
		"what others write is nobody's concern here": {two, false},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		s.pending.wait(ctx, test.cluster)
		if waited := ctx.Err() != nil; waited != test.waits {
			t.Errorf("%s: waited %t", reason, waited)
		}
		cancel()
	}
	done := make(chan struct{})
	go func() {
		s.pending.wait(t.Context(), one)
		close(done)
	}()
	end()
	<-done
	if len(s.pending.batches) != 0 {
		t.Errorf("something is left behind: %v", s.pending.batches)
	}
	s.pending.wait(t.Context(), one)
}
