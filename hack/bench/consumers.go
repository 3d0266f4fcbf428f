//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// consumersRate is how many writes per second the provider's watch is measured under.
const consumersRate = 150

// measureConsumers measures what a provider sees of its consumers.
func (s *server) measureConsumers(ctx context.Context, t *table) error {
	p, err := s.newProvider(ctx)
	if err != nil {
		return err
	}
	clusters, err := s.workspaces(ctx, s.times(1000))
	if err != nil {
		return err
	}
	tracker, err := s.trackBindings(ctx)
	if err != nil {
		return err
	}
	if _, err := s.load(ctx, s.clients, len(clusters), tracker.bind(p, clusters)); err != nil {
		return err
	}
	if err := s.measureProviderWatch(ctx, t, p, clusters); err != nil {
		return err
	}
	return s.measureProviderList(ctx, t, p, clusters)
}

// measureProviderWatch measures how late the provider sees objects of its consumers, who
// write at a steady rate.
func (s *server) measureProviderWatch(ctx context.Context, t *table, p *provider, clusters []string) error {
	if _, err := s.load(ctx, s.clients, len(clusters), s.createIn(clusters, "warm")); err != nil {
		return err
	}
	delivery, stop, err := s.measureDelivery(ctx, p.virtualPath("*")+gadgetsPath)
	if err != nil {
		return err
	}
	defer stop()
	n := s.times(20 * consumersRate)
	began := time.Now()
	paced := func(ctx context.Context, c *client, i int) error {
		select {
		case <-time.After(time.Until(began.Add(time.Duration(i) * time.Second / consumersRate))):
		case <-ctx.Done():
			return ctx.Err()
		}
		return s.createIn(clusters, "paced")(ctx, c, i)
	}
	r, err := s.load(ctx, s.clients, n, paced)
	if err != nil {
		return err
	}
	p50, p99, count := delivery()
	t.add(row{fmt.Sprintf("object of a consumer to the provider's wildcard watch, at %d writes/s over %d consumers", consumersRate, len(clusters)),
		"p50 ≤ 5 ms, p99 ≤ 50 ms", "p50 " + brief(p50) + ", p99 " + brief(p99),
		fmt.Sprintf("%d events at %s; from sending the create request to reading the event", count, r.rate())})
	return nil
}

// createIn makes objects of the exported API in clusters, by turns.
func (s *server) createIn(clusters []string, prefix string) operation {
	return func(ctx context.Context, c *client, i int) error {
		return s.create(gadget, "/clusters/"+clusters[i%len(clusters)]+gadgetsPath, prefix)(ctx, c, i)
	}
}

// measureProviderList measures how fast the provider reads all objects of its consumers.
func (s *server) measureProviderList(ctx context.Context, t *table, p *provider, clusters []string) error {
	total := s.times(50000)
	have := len(clusters) + s.times(20*consumersRate)
	if _, err := s.load(ctx, s.clients, max(total-have, 0), s.createIn(clusters, "listed")); err != nil {
		return err
	}
	var took []time.Duration
	var count, size int
	for range max(s.rounds, 1) {
		stopProfile := s.startProfile(ctx, "provider-list", len(took))
		began := time.Now()
		list, err := s.admin.do(ctx, "GET", p.virtualPath("*")+gadgetsPath, "", nil)
		took = append(took, time.Since(began))
		stopProfile()
		if err != nil {
			return err
		}
		count, size = bytes.Count(list, []byte(`"kind":"Gadget"`)), len(list)
	}
	if count < total {
		return fmt.Errorf("the provider sees %d objects of %d", count, total)
	}
	t.add(row{"wildcard list of " + strconv.Itoa(count) + " objects", "≥ 30,000 objects/s",
		fmt.Sprintf("%.0f objects/s", float64(count)/medianOf(took).Seconds()),
		strings.Join([]string{brief(medianOf(took)), megabytes(size) + " of JSON"}, "; ")})
	return nil
}
