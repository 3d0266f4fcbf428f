package model

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/forkless/kcp/pkg/cli/display"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// many is how many workspaces the tree is measured with.
const many = 10_000

// frame is how long a frame may take at 60 Hz.
const frame = time.Second / 60

// crowd returns workspaces of the sort that there are many of.
func crowd(n int) []Item {
	items := make([]Item, n)
	root := logicalcluster.MustParsePath("root")
	for i := range items {
		name := fmt.Sprintf("workspace-%05d", i)
		items[i] = Item{Name: name, Path: root.Join(name), Type: "root:universal", Phase: "Ready", Created: start, Cluster: fmt.Sprintf("2kb1y3r0q9%06d", i)}
	}
	return items
}

// crowded returns a tree with many workspaces, told page by page as a server does.
func crowded(t testing.TB) *player {
	t.Helper()
	p := play(t, Options{Current: logicalcluster.MustParsePath("root"), Display: display.Display{Terminal: true, Color: true}})
	p.send(Size{120, 50})
	items := crowd(many)
	const page = 500
	for i := 0; i < many; i += page {
		p.send(Children{Seq: p.seqOf("root"), Items: items[i : i+page], First: i == 0, Last: i+page == many})
	}
	return p
}

// TestManyWorkspaces holds that nothing a user does with many workspaces takes as long as
// a frame. The typical duration counts: a busy machine stops every program for longer at
// times.
func TestManyWorkspaces(t *testing.T) {
	began := time.Now()
	play(t, Options{Current: logicalcluster.MustParsePath("root:a:b")}).send(Size{120, 50}).View()
	t.Logf("first frame after %s", time.Since(began))

	p := crowded(t)
	root := p.tree.tops[0]
	acts := map[string]struct {
		msgs []Msg
		in   time.Duration
	}{
		"Scroll":     {[]Msg{Key("down")}, frame / 4},
		"Page":       {[]Msg{Key("pgdown")}, frame / 4},
		"End":        {[]Msg{Key("G"), Key("g")}, frame / 2},
		"CloseOpen":  {[]Msg{Key("g"), Key("space"), Key("space")}, frame},
		"OneChanges": {[]Msg{Changes{Seq: root.watch, Now: crowd(1)}}, frame},
		"OneComes":   {[]Msg{Changes{Seq: root.watch, Now: []Item{{Name: "aaa"}}}, Changes{Seq: root.watch, Gone: []string{"aaa"}}}, frame},
		"Filter":     {[]Msg{Key("/"), Key("9"), Key("9"), Key("esc")}, 4 * frame},
		"Resize":     {[]Msg{Size{90, 30}, Size{120, 50}}, frame},
	}
	for name, act := range acts {
		t.Run(name, func(t *testing.T) {
			times := 101
			if raceDetector {
				times = 3
			}
			took := make([]time.Duration, times)
			for i := range took {
				for j := range act.msgs {
					if c, ok := act.msgs[j].(Changes); ok {
						c.Seq = root.watch
						act.msgs[j] = c
					}
				}
				began := time.Now()
				for _, msg := range act.msgs {
					p.Update(msg)
					p.View()
				}
				took[i] = time.Since(began)
			}
			typical := median(took)
			t.Logf("%d messages and frames in %s", len(act.msgs), typical)
			// The race detector makes everything ten times slower, and looks for something else.
			if !raceDetector && typical > act.in {
				t.Errorf("%d messages and frames take %s, at most %s are allowed", len(act.msgs), typical, act.in)
			}
		})
	}
}

func median(all []time.Duration) time.Duration {
	return slices.Sorted(slices.Values(all))[len(all)/2]
}

// TestMemoryOfManyWorkspaces holds that a workspace takes little: there may be many.
func TestMemoryOfManyWorkspaces(t *testing.T) {
	used := func() uint64 {
		runtime.GC()
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return stats.HeapAlloc
	}
	before := used()
	p := crowded(t)
	each := (used() - before) / many
	t.Logf("%d bytes for each workspace", each)
	if each > 1000 {
		t.Errorf("a workspace takes %d bytes", each)
	}
	runtime.KeepAlive(p)
}

func BenchmarkScroll(b *testing.B) {
	p := crowded(b)
	b.ResetTimer()
	for range b.N {
		p.Update(Key("down"))
		p.View()
	}
}

func BenchmarkFirstFrame(b *testing.B) {
	for range b.N {
		m := New(Options{Current: logicalcluster.MustParsePath("root:a:b:c"), Now: start})
		m.Start()
		m.Update(Size{120, 50})
		m.View()
	}
}
