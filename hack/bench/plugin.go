//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// measurePlugin measures `kubectl ws .`, as the plugin that kubectl runs.
func measurePlugin(ctx context.Context, s settings, t *table) error {
	binary, err := os.Stat(s.plugin)
	if err != nil {
		return err
	}
	srv, done, err := freshServer(ctx, s)
	if err != nil {
		return err
	}
	defer done()
	const times = 30
	var (
		took    []time.Duration
		largest int
	)
	for range times {
		cmd := exec.CommandContext(ctx, s.plugin, ".") //nolint:gosec // because what to run is what the user asked to measure
		cmd.Env = append(os.Environ(), "KUBECONFIG="+filepath.Join(srv.root, "admin.kubeconfig"))
		began := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", cmd, err, out)
		}
		took = append(took, time.Since(began))
		if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
			largest = max(largest, int(usage.Maxrss)<<10)
		}
	}
	p50, p99 := percentiles(took)
	t.add(row{"kubectl ws .", "≤ 30 ms", brief(p50), fmt.Sprintf("median of %d, slowest %s; at most %s resident", times, brief(p99), megabytes(largest))})
	t.add(row{"size of the kubectl ws binary", "≤ 45 MB", megabytes(int(binary.Size())), "stripped"})
	return nil
}
