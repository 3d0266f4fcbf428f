//go:build linux

package main

import (
	"context"
	"fmt"
)

// measureWorkloadTypes measures what the battery workload-types costs: of the server that
// has it, and of each workspace that does not use it.
func measureWorkloadTypes(ctx context.Context, s settings, t *table) error {
	for _, battery := range []struct {
		name  string
		flags []string
	}{
		{"off", nil},
		{"on", []string{"--batteries-included=+workload-types"}},
	} {
		s.flags = battery.flags
		if err := measureBattery(ctx, s, t, battery.name); err != nil {
			return err
		}
	}
	return nil
}

// measureBattery measures a server at rest, and with workspaces.
func measureBattery(ctx context.Context, s settings, t *table, name string) error {
	srv, done, err := freshServer(ctx, s)
	if err != nil {
		return err
	}
	defer done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	tracker, err := srv.track(ctx)
	if err != nil {
		return err
	}
	if _, err := srv.load(ctx, 1, 10, tracker.create("w", 0)); err != nil {
		return err
	}
	empty, err := srv.footprint(ctx)
	if err != nil {
		return err
	}
	t.add(row{"server with workload-types " + name, "", megabytes(empty.resident), fmt.Sprintf(
		"live heap %s; %d goroutines; ready in %s", megabytes(empty.heap), empty.goroutines, brief(srv.ready))})
	count := 10 + s.times(500)
	if _, err := srv.load(ctx, s.clients, count-10, tracker.create("w", 10)); err != nil {
		return err
	}
	full, err := srv.footprint(ctx)
	if err != nil {
		return err
	}
	each, notes := full.each(empty, count-10)
	t.add(row{fmt.Sprintf("empty workspace with it %s, at %d", name, count), "the same", each, notes})
	return nil
}
