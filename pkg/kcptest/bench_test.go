package kcptest_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/forkless/kcp/internal/servertest/heap"
	"github.com/forkless/kcp/pkg/kcptest"
)

// start returns a control plane that the benchmark stops itself.
func start(b *testing.B) *kcptest.ControlPlane {
	b.Helper()
	c, err := kcptest.New(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	return c
}

func stop(b *testing.B, c *kcptest.ControlPlane) {
	b.Helper()
	if err := c.Stop(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkStart measures all control planes of a process but the first.
func BenchmarkStart(b *testing.B) {
	stop(b, start(b))
	for b.Loop() {
		c := start(b)
		b.StopTimer()
		stop(b, c)
		b.StartTimer()
	}
}

func BenchmarkStop(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		c := start(b)
		b.StartTimer()
		stop(b, c)
	}
}

func BenchmarkWorkspace(b *testing.B) {
	c := kcptest.Start(b)
	for b.Loop() {
		if _, err := c.WorkspaceContext(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkMemory measures what each control plane adds to the heap of the process.
func BenchmarkMemory(b *testing.B) {
	const together = 5
	stop(b, start(b))
	for b.Loop() {
		before := heap.InUse()
		var all []*kcptest.ControlPlane
		for range together {
			all = append(all, start(b))
		}
		b.ReportMetric(float64(heap.InUse()-before)/together/(1<<20), "MB/server")
		for _, c := range all {
			stop(b, c)
		}
	}
}

// firstVariable has TestFirst measure, in a process of its own.
const firstVariable = "KCPTEST_FIRST"

const firstPrefix = "first start: "

// TestFirst says how long the first control plane of a process takes, for BenchmarkFirst.
func TestFirst(t *testing.T) {
	if os.Getenv(firstVariable) == "" {
		t.Skip("measures for a benchmark")
	}
	began := time.Now()
	c := kcptest.Start(t)
	fmt.Println(firstPrefix + time.Since(began).String())
	if err := c.Stop(); err != nil {
		t.Error(err)
	}
}

// BenchmarkFirst measures the first control plane of a process, which makes what the
// others share. The time of each operation is that of a whole process.
func BenchmarkFirst(b *testing.B) {
	program, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	var total time.Duration
	for b.Loop() {
		command := exec.CommandContext(b.Context(), program, "-test.run=^TestFirst$")
		command.Env = append(os.Environ(), firstVariable+"=1")
		output, err := command.Output()
		if err != nil {
			b.Fatalf("%v: %s", err, output)
		}
		_, rest, _ := strings.Cut(string(output), firstPrefix)
		took, _, _ := strings.Cut(rest, "\n")
		duration, err := time.ParseDuration(took)
		if err != nil {
			b.Fatal(err)
		}
		total += duration
	}
	b.ReportMetric(float64(total.Milliseconds())/float64(b.N), "ms/start")
}
