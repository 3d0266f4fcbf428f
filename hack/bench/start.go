//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"time"
)

// measureStart measures the time from starting the process to /readyz saying ok.
func measureStart(ctx context.Context, s settings, t *table) error {
	var fresh, existing []time.Duration
	for range max(s.rounds, 1) {
		srv, done, err := freshServer(ctx, s)
		if err != nil {
			return err
		}
		fresh = append(fresh, srv.ready)
		again, err := srv.restart(ctx)
		if err != nil {
			done()
			return err
		}
		existing = append(existing, again.ready)
		again.kill()
		done()
	}
	t.add(row{"start to ready, new directory", "≤ 0.5 s", brief(medianOf(fresh)), fmt.Sprintf("process start to /readyz, median of %d", len(fresh))})
	t.add(row{"start to ready, existing directory", "", brief(medianOf(existing)), "the same, after a proper stop"})
	return nil
}

// restart stops the server and starts another one on the same directory.
func (s *server) restart(ctx context.Context) (*server, error) {
	s.stop()
	return startServer(ctx, s.settings, s.root)
}

// measureIdle measures a server that nobody uses.
func (s *server) measureIdle(ctx context.Context, t *table) error {
	first, err := resident(s.cmd.Process.Pid)
	if err != nil {
		return err
	}
	memory, err := s.settledMemory(ctx)
	if err != nil {
		return err
	}
	heap, err := s.heap(ctx)
	if err != nil {
		return err
	}
	s.profile(ctx, "idle.heap", "/debug/pprof/heap?gc=1")
	count, err := s.goroutines(ctx)
	if err != nil {
		return err
	}
	metrics, err := s.shardAdmin.do(ctx, http.MethodGet, "/metrics", "", nil)
	if err != nil {
		return err
	}
	binary, err := os.Stat(s.server)
	if err != nil {
		return err
	}
	t.add(row{"resident memory, idle", "≤ 110 MB", megabytes(memory), fmt.Sprintf("settled; %s when ready; live heap %s; %d goroutines", megabytes(first), megabytes(heap), count)})
	t.add(row{"metric series, idle", "< 3,000", fmt.Sprint(series(metrics)), "lines of /metrics that are not comments"})
	t.add(row{"size of the server binary", "", megabytes(int(binary.Size())), "stripped"})
	return nil
}

func series(metrics []byte) int {
	count := 0
	for line := range bytes.Lines(metrics) {
		if len(line) > 1 && line[0] != '#' {
			count++
		}
	}
	return count
}

func medianOf(durations []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(durations))
	return sorted[len(sorted)/2]
}

func megabytes(bytes int) string { return fmt.Sprintf("%.1f MB", float64(bytes)/(1<<20)) }

func kilobytes(bytes float64) string { return fmt.Sprintf("%.1f KB", bytes/(1<<10)) }
