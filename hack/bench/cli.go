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

// measureCLI measures the kubectl plugins: how large they are, and how quickly the one
// that stands in prompts answers.
func measureCLI(ctx context.Context, s settings, t *table) error {
	if err := addSizes(filepath.Dir(s.plugin), t); err != nil {
		return err
	}
	return withServer(ctx, s, func(ctx context.Context, srv *server) error { return srv.measurePrompt(ctx, t) })
}

// measurePrompt measures the plugin that stands in prompts.
func (s *server) measurePrompt(ctx context.Context, t *table) error {
	const times = 30
	var (
		took    []time.Duration
		largest int
	)
	for range times {
		cmd := exec.CommandContext(ctx, s.plugin, ".") //nolint:gosec // because what to run is what the user asked to measure
		cmd.Env = append(os.Environ(), "KUBECONFIG="+filepath.Join(s.root, "admin.kubeconfig"))
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
	return nil
}

// addSizes adds a row for each plugin in a folder: users download them all.
func addSizes(folder string, t *table) error {
	binaries, err := filepath.Glob(filepath.Join(folder, "kubectl-*"))
	if err != nil {
		return err
	}
	for _, binary := range binaries {
		info, err := os.Stat(binary)
		if err != nil {
			return err
		}
		t.add(row{"size of " + filepath.Base(binary), "≤ 45 MB", megabytes(int(info.Size())), "as it was built; releases strip it"})
	}
	return nil
}
