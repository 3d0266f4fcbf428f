//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// bindingTracker follows the bindings to one export, in all workspaces, with one watch.
type bindingTracker struct {
	mu sync.Mutex
	// bound is told when the binding of a cluster is bound, swapped when it has the
	// second schema.
	bound, swapped map[string]chan struct{}
}

func (s *server) trackBindings(ctx context.Context) (*bindingTracker, error) {
	t := &bindingTracker{bound: map[string]chan struct{}{}, swapped: map[string]chan struct{}{}}
	return t, s.shardAdmin.another().watchAgain(ctx, "/clusters/*"+apisPath+"/apibindings", t.see)
}

func (t *bindingTracker) see(event []byte) {
	if !bytes.Contains(event, []byte(`"phase":"Bound"`)) || !bytes.Contains(event, []byte(`gadgets.gadgets.example.com`)) {
		return
	}
	cluster := clusterOfEvent(event)
	t.mu.Lock()
	defer t.mu.Unlock()
	tell(t.bound, cluster)
	if bytes.Contains(event, []byte(`"name":"v2.gadgets.gadgets.example.com"`)) {
		tell(t.swapped, cluster)
	}
}

func (t *bindingTracker) wait(ctx context.Context, all map[string]chan struct{}, cluster string) error {
	t.mu.Lock()
	told := channel(all, cluster)
	t.mu.Unlock()
	select {
	case <-told:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for the binding of %s: %w", cluster, ctx.Err())
	}
}

// bind binds the export in a cluster and waits until it is bound.
func (t *bindingTracker) bind(p *provider, clusters []string) operation {
	return func(ctx context.Context, c *client, i int) error {
		if _, err := c.do(ctx, http.MethodPost, "/clusters/"+clusters[i]+apisPath+"/apibindings", jsonType, p.binding()); err != nil {
			return err
		}
		return t.wait(ctx, t.bound, clusters[i])
	}
}

// measureBindings measures what it takes to bind an export many times.
func (s *server) measureBindings(ctx context.Context, t *table) error {
	p, err := s.newProvider(ctx)
	if err != nil {
		return err
	}
	clusters, err := s.workspaces(ctx, s.times(10000))
	if err != nil {
		return err
	}
	tracker, err := s.trackBindings(ctx)
	if err != nil {
		return err
	}
	// The first one opens the store, and the first object compiles the schema.
	if err := s.firstConsumer(ctx, tracker, p, clusters[:1]); err != nil {
		return err
	}
	before, err := s.footprint(ctx)
	if err != nil {
		return err
	}
	s.profile(ctx, "bindings-before.heap", "/debug/pprof/heap?gc=1")
	rest := clusters[1:]
	alone := min(s.times(500), len(rest)/2)
	one, err := s.load(ctx, 1, alone, tracker.bind(p, rest[:alone]))
	if err != nil {
		return err
	}
	t.add(row{"binding created to Bound, 1 client, p50", "≤ 20 ms", brief(one.p50), "from sending the request to seeing the event on a watch; " + one.cost()})
	stopProfile := s.startProfile(ctx, "bindings", 0)
	many, err := s.load(ctx, s.clients, len(rest)-alone, tracker.bind(p, rest[alone:]))
	stopProfile()
	if err != nil {
		return err
	}
	t.add(row{fmt.Sprintf("bindings Bound per second, %d clients", s.clients), "≥ 200/s", many.rate(), many.cost()})
	if err := s.addBindingFootprint(ctx, t, before, len(rest)); err != nil {
		return err
	}
	return s.measureSwap(ctx, t, tracker, p, clusters)
}

// firstConsumer binds the export in the first workspace and uses it there.
func (s *server) firstConsumer(ctx context.Context, tracker *bindingTracker, p *provider, clusters []string) error {
	if _, err := s.load(ctx, 1, 1, tracker.bind(p, clusters)); err != nil {
		return err
	}
	_, err := s.load(ctx, 1, 10, s.create(gadget, "/clusters/"+clusters[0]+gadgetsPath, "warm"))
	return err
}

func (s *server) addBindingFootprint(ctx context.Context, t *table, before footprint, n int) error {
	after, err := s.footprint(ctx)
	if err != nil {
		return err
	}
	s.profile(ctx, "bindings.heap", "/debug/pprof/heap?gc=1")
	each, notes := after.each(before, n)
	t.add(row{fmt.Sprintf("resident memory per binding and its API of %d fields, at %d", gadgetFields, n+1), "≤ 8 KB", each, notes})
	t.add(row{"goroutines per binding", "0", fmt.Sprintf("%.3f", float64(after.goroutines-before.goroutines)/float64(n)), ""})
	return nil
}

// measureSwap measures how long it takes until all bindings have what the export offers
// anew.
func (s *server) measureSwap(ctx context.Context, t *table, tracker *bindingTracker, p *provider, clusters []string) error {
	usedBefore, _, err := s.used()
	if err != nil {
		return err
	}
	stopProfile := s.startProfile(ctx, "bindings-swapped", 0)
	began := time.Now()
	if err := s.swapSchema(ctx, p); err != nil {
		return err
	}
	for _, cluster := range clusters {
		if err := tracker.wait(ctx, tracker.swapped, cluster); err != nil {
			return err
		}
	}
	took := time.Since(began)
	stopProfile()
	used, _, err := s.used()
	if err != nil {
		return err
	}
	t.add(row{fmt.Sprintf("export change seen by %d bindings", len(clusters)), "≤ 10 s", brief(took),
		fmt.Sprintf("from sending it to the last event on a watch; processor time %s each", brief((used-usedBefore)/time.Duration(len(clusters))))})
	return nil
}
