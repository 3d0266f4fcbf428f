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
	"strings"
	"time"
)

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
	manifests, archive := filepath.Join(directory, "platform.yaml"), filepath.Join(directory, "platform.tar")
	workspaces := max(1, int(platformSize*s.scale))
	if err := os.WriteFile(manifests, []byte(platform(workspaces)), 0o600); err != nil {
		return err
	}
	made, _, err := timedRun(ctx, s, "--start-timeout=5m", "--apply="+manifests, "--save="+archive)
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

// platform returns manifests of a tree of workspaces, of a type that binds an export, and of
// a definition with objects.
func platform(workspaces int) string {
	var text strings.Builder
	text.WriteString(platformAPIs)
	for i := range workspaces {
		fmt.Fprintf(&text, "---\napiVersion: tenancy.kcp.io/v1alpha1\nkind: Workspace\nmetadata: {name: team-%d}\nspec: {type: {name: team, path: \"root:run\"}}\n", i)
		fmt.Fprintf(&text, "---\napiVersion: wildwest.dev/v1\nkind: Cowboy\nmetadata: {name: cowboy-%d}\nspec: {intent: ride}\n", i)
	}
	return text.String()
}

const platformAPIs = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: cowboys.wildwest.dev}
spec:
  group: wildwest.dev
  names: {plural: cowboys, singular: cowboy, kind: Cowboy}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {intent: {type: string}}}}}}
---
apiVersion: apis.kcp.io/v1alpha1
kind: APIResourceSchema
metadata: {name: today.sheriffs.wild.wild.west}
spec:
  group: wild.wild.west
  names: {plural: sheriffs, singular: sheriff, kind: Sheriff, listKind: SheriffList}
  scope: Cluster
  versions:
  - {name: v1, served: true, storage: true, schema: {type: object}}
---
apiVersion: apis.kcp.io/v1alpha2
kind: APIExport
metadata: {name: sheriffs}
spec:
  resources:
  - {group: wild.wild.west, name: sheriffs, schema: today.sheriffs.wild.wild.west, storage: {crd: {}}}
---
apiVersion: tenancy.kcp.io/v1alpha1
kind: WorkspaceType
metadata: {name: team}
spec:
  extend: {with: [{name: universal, path: root}]}
  defaultAPIBindings: [{path: "root:run", export: sheriffs}]
`
