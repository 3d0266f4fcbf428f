package kcptest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/forkless/kcp/pkg/kcptest"
)

func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		c, err := kcptest.New(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := c.Stop(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

func BenchmarkStop(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		c, err := kcptest.New(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		if err := c.Stop(); err != nil {
			b.Fatal(err)
		}
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

func TestLeakExplore(t *testing.T) {
	n := 10
	if os.Getenv("N") != "" {
		fmt.Sscan(os.Getenv("N"), &n)
	}
	for i := range n {
		s := time.Now()
		c, err := kcptest.New(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		d := time.Since(s)
		s = time.Now()
		if _, err := c.WorkspaceContext(t.Context()); err != nil {
			t.Fatal(err)
		}
		w := time.Since(s)
		s = time.Now()
		_ = c.Stop()
		var ms runtime.MemStats
		e := time.Since(s)
		if i%10 == 9 || i < 10 {
			runtime.GC()
			runtime.ReadMemStats(&ms)
		}
		t.Logf("%d start %s ws %s stop %s goroutines %d heap %d MB objects %d", i, d, w, e, runtime.NumGoroutine(), ms.HeapAlloc>>20, ms.HeapObjects)
	}
	buf := make([]byte, 8<<20)
	buf = buf[:runtime.Stack(buf, true)]
	counts := map[string]int{}
	for _, g := range strings.Split(string(buf), "\n\n") {
		i := strings.LastIndex(g, "created by ")
		if i < 0 {
			i = 0
		}
		counts[strings.Split(strings.Split(g[i:], "\n")[0], " in goroutine")[0]]++
	}
	var mu sync.Mutex
	mu.Lock()
	for k, v := range counts {
		fmt.Println(v, k)
	}
	_ = os.WriteFile(filepath.Join("/tmp/wt", "stacks.txt"), buf, 0o600)
}
