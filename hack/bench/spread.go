//go:build linux

package main

import (
	"context"
	"fmt"
	"net/http"
)

// measureSpread measures objects that are spread over many workspaces.
func (s *server) measureSpread(ctx context.Context, t *table) error {
	clusters, err := s.workspaces(ctx, s.times(1000))
	if err != nil {
		return err
	}
	for _, cluster := range clusters {
		if err := define(ctx, s.admin, cluster); err != nil {
			return err
		}
	}
	for _, k := range []kind{configMaps, widgets} {
		if err := s.measureSpreadKind(ctx, t, k, clusters); err != nil {
			return err
		}
	}
	return nil
}

func (s *server) measureSpreadKind(ctx context.Context, t *table, k kind, clusters []string) error {
	const each = 5
	in := func(i int) string { return "/clusters/" + clusters[i%len(clusters)] + k.collection }
	n := each * len(clusters)
	before, err := s.footprint(ctx)
	if err != nil {
		return err
	}
	for _, step := range []struct {
		what string
		n    int
		do   operation
	}{
		{"created", n, func(ctx context.Context, c *client, i int) error {
			return s.create(k, in(i), "spread")(ctx, c, i)
		}},
		{"read", n, func(ctx context.Context, c *client, i int) error {
			_, err := c.do(ctx, http.MethodGet, fmt.Sprintf("%s/spread-%d", in(i), i), "", nil)
			return err
		}},
		{"listed (lists)", n, func(ctx context.Context, c *client, i int) error {
			_, err := c.do(ctx, http.MethodGet, in(i), "", nil)
			return err
		}},
	} {
		r, err := s.load(ctx, s.clients, step.n, step.do)
		if err != nil {
			return err
		}
		t.add(row{fmt.Sprintf("%ss in %d workspaces %s per second, %d clients", k.name, len(clusters), step.what, s.clients), "", r.rate(), r.cost()})
	}
	after, err := s.footprint(ctx)
	if err != nil {
		return err
	}
	t.add(row{"resident memory per " + k.name, "", kilobytes(float64(after.resident-before.resident) / float64(n)),
		fmt.Sprintf("settled; live heap %s each", kilobytes(float64(after.heap-before.heap)/float64(n)))})
	return nil
}
