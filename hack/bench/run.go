//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/forkless/kcp/internal/servertest/manifests"
)

// runWorkspace is where "kcp run" applies manifests unless it is told otherwise.
const runWorkspace = "root:run"

// platformSize is how many workspaces there are in the archive that runs begin with.
const platformSize = 200

// measureRun measures "kcp run" as somebody sees who waits for it: from the start of the
// process to its end.
func measureRun(ctx context.Context, s settings, t *table) error {
	rounds := max(s.rounds, 1) * 3
	took, work, err := medianRun(ctx, s, rounds)
	if err != nil {
		return err
	}
	t.add(row{"kcp run -- true", "≤ 0.5 s", brief(took), fmt.Sprintf("start to end of the process, median of %d; %s of processor", rounds, brief(work))})

	directory, err := os.MkdirTemp("", "kcp-bench-run")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(directory) }()
	applied, archive := filepath.Join(directory, "platform.yaml"), filepath.Join(directory, "platform.tar")
	workspaces := max(1, int(platformSize*s.scale))
	if err := os.WriteFile(applied, []byte(manifests.Platform(runWorkspace, workspaces)), 0o600); err != nil {
		return err
	}
	made, _, err := timedRun(ctx, s, "--start-timeout=5m", "--apply="+applied, "--save="+archive)
	if err != nil {
		return err
	}
	info, err := os.Stat(archive)
	if err != nil {
		return err
	}
	took, work, err = medianRun(ctx, s, rounds, "--snapshot="+archive)
	if err != nil {
		return err
	}
	t.add(row{
		fmt.Sprintf("kcp run --snapshot -- true, %d workspaces", workspaces), "≤ 0.7 s", brief(took),
		fmt.Sprintf("each with a binding, and a definition with as many objects; %s of processor; archive of %d KB, made in %s", brief(work), info.Size()/1000, brief(made)),
	})
	return nil
}

// medianRun returns how long "kcp run -- true" with flags takes, and how much of a processor.
func medianRun(ctx context.Context, s settings, rounds int, flags ...string) (took, work time.Duration, err error) {
	var all, allWork []time.Duration
	for range rounds {
		took, work, err := timedRun(ctx, s, flags...)
		if err != nil {
			return 0, 0, err
		}
		all, allWork = append(all, took), append(allWork, work)
	}
	return medianOf(all), medianOf(allWork), nil
}

func timedRun(ctx context.Context, s settings, flags ...string) (took, work time.Duration, err error) {
	cmd := exec.CommandContext(ctx, s.server, append(append([]string{"run", "-q"}, flags...), "--", "true")...)
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	began := time.Now()
	if err := cmd.Run(); err != nil {
		return 0, 0, errors.Join(err, errors.New(errOut.String()))
	}
	return time.Since(began), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}
