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
		err := withServer(ctx, s, func(ctx context.Context, srv *server) error { return srv.measureBattery(ctx, t, battery.name) })
		if err != nil {
			return err
		}
	}
	return nil
}

// measureBattery measures a server at rest, and with workspaces.
func (s *server) measureBattery(ctx context.Context, t *table, name string) error {
	tracker, empty, err := s.inhabited(ctx)
	if err != nil {
		return err
	}
	t.add(row{"server with workload-types " + name, "", megabytes(empty.resident), fmt.Sprintf(
		"live heap %s; %d goroutines; ready in %s", megabytes(empty.heap), empty.goroutines, brief(s.ready))})
	count := firstWorkspaces + s.times(500)
	if _, err := s.load(ctx, s.clients, count-firstWorkspaces, tracker.create("w", firstWorkspaces)); err != nil {
		return err
	}
	full, err := s.footprint(ctx)
	if err != nil {
		return err
	}
	each, notes := full.each(empty, count-firstWorkspaces)
	t.add(row{fmt.Sprintf("empty workspace with it %s, at %d", name, count), "the same", each, notes})
	return nil
}
