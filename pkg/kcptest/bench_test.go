package kcptest_test

import (
	"runtime"
	"testing"

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
		before := heap()
		var all []*kcptest.ControlPlane
		for range together {
			all = append(all, start(b))
		}
		b.ReportMetric(float64(heap()-before)/together/(1<<20), "MB/server")
		for _, c := range all {
			stop(b, c)
		}
	}
}

// heap returns the bytes that are in use.
func heap() uint64 {
	// What finalizers and pools hold goes with the second one.
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
