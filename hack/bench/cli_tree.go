//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// drawnFanOut is how many workspaces there are in the one at the top, and in each of
// those: 10,101 in all.
const drawnFanOut = 100

// measureCLITree measures `kubectl ws tree` over a large tree, for both kinds of admins, who
// may list all workspaces at once for different reasons.
func (s *server) measureCLITree(ctx context.Context, t *table) error {
	count, err := s.growWide(ctx, max(s.times(drawnFanOut), 2))
	if err != nil {
		return err
	}
	for _, who := range []struct{ context, notes string }{
		{"base", "as kcp-admin, by the bootstrap policy"},
		{"shard-base", "as system:masters"},
	} {
		for _, flags := range [][]string{nil, {"--status"}, {"-o", "json"}} {
			if err := s.measureDrawing(ctx, t, count, who.context, who.notes, flags); err != nil {
				return err
			}
		}
	}
	return nil
}

// growWide makes a workspace with fanOut others in it, each with as many, and returns how
// many that are.
func (s *server) growWide(ctx context.Context, fanOut int) (int, error) {
	tracker, err := s.track(ctx)
	if err != nil {
		return 0, err
	}
	growing, grownUp := context.WithCancel(ctx)
	defer grownUp()
	if err := s.shardAdmin.another().watchAgain(growing, allClustersPath, tracker.seeCluster); err != nil {
		return 0, err
	}
	grown := &tree{server: s, tracker: tracker, levels: [][]string{{"root:wide"}}}
	for range 2 {
		var next []string
		for _, parent := range grown.levels[len(grown.levels)-1] {
			for i := range fanOut {
				next = append(next, fmt.Sprintf("%s:%s-%d", parent, baseOf(parent), i))
			}
		}
		grown.levels = append(grown.levels, next)
	}
	for _, level := range grown.levels {
		if _, err := s.load(ctx, s.clients, len(level), grown.create(level)); err != nil {
			return 0, err
		}
	}
	return grown.size(), nil
}

// measureDrawing measures a call of the command.
func (s *server) measureDrawing(ctx context.Context, t *table, count int, kubeContext, notes string, flags []string) error {
	var (
		took    []time.Duration
		server  time.Duration
		client  time.Duration
		largest int
	)
	for range max(s.rounds, 1) {
		before, _, err := s.used()
		if err != nil {
			return err
		}
		args := append([]string{"tree", ":root:wide", "--context", kubeContext}, flags...)
		cmd := exec.CommandContext(ctx, s.plugin, args...) //nolint:gosec // because what to run is what the user asked to measure
		cmd.Env = append(os.Environ(), "KUBECONFIG="+filepath.Join(s.root, "admin.kubeconfig"))
		began := time.Now()
		out, err := cmd.Output()
		if err != nil {
			return fmt.Errorf("%s: %w", cmd, err)
		}
		took = append(took, time.Since(began))
		if lines := strings.Count(string(out), "\n"); lines < count {
			return fmt.Errorf("%s: %d lines for %d workspaces", cmd, lines, count)
		}
		after, _, err := s.used()
		if err != nil {
			return err
		}
		server = after - before
		client = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
			largest = max(largest, int(usage.Maxrss)<<10)
		}
	}
	slices.Sort(took)
	name := strings.Join(append([]string{"kubectl ws tree"}, flags...), " ")
	t.add(row{
		fmt.Sprintf("%s, %d workspaces, %s", name, count, kubeContext), "≤ 2 s", brief(took[len(took)/2]),
		fmt.Sprintf("%s; processor time %s server, %s client; at most %s resident", notes, brief(server), brief(client), megabytes(largest)),
	})
	return nil
}
