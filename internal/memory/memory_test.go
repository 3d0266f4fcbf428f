package memory

import (
	"context"
	"runtime"
	"testing"
	"time"
)

const (
	mb = 1 << 20
	// keptByTest is what is held after memory was given back.
	keptByTest = 130 * mb
)

func TestAtRest(t *testing.T) {
	for _, test := range []struct {
		reason string
		seen   []usage
		want   []bool
	}{
		{
			"nothing is known of the first look",
			[]usage{{allocated: 500 * mb, live: 100 * mb, held: 300 * mb}},
			[]bool{false},
		},
		{
			"once after work, not again while nothing happens",
			[]usage{
				{allocated: 500 * mb, live: 100 * mb, held: 300 * mb},
				{allocated: 600 * mb, live: 100 * mb, held: 300 * mb},
				{allocated: 601 * mb, live: 100 * mb, held: 300 * mb},
				{allocated: 602 * mb, live: 100 * mb, held: 300 * mb},
			},
			[]bool{false, false, true, false},
		},
		{
			"again after more work",
			[]usage{
				{allocated: 601 * mb, live: 100 * mb, held: 300 * mb},
				{allocated: 602 * mb, live: 100 * mb, held: 300 * mb},
				{allocated: 800 * mb, live: 100 * mb, held: 300 * mb},
				{allocated: 801 * mb, live: 100 * mb, held: 300 * mb},
			},
			[]bool{false, true, false, true},
		},
		{
			"little is to be had",
			[]usage{
				{allocated: 601 * mb, live: 100 * mb, held: 107 * mb},
				{allocated: 602 * mb, live: 100 * mb, held: 107 * mb},
			},
			[]bool{false, false},
		},
		{
			"what could not be given back cannot be now",
			[]usage{
				{allocated: 601 * mb, live: 100 * mb, held: 300 * mb},
				{allocated: 602 * mb, live: 100 * mb, held: 300 * mb},
				{allocated: 800 * mb, live: 100 * mb, held: keptByTest + 7*mb},
				{allocated: 801 * mb, live: 100 * mb, held: keptByTest + 7*mb},
				{allocated: 802 * mb, live: 100 * mb, held: keptByTest + 9*mb},
			},
			[]bool{false, true, false, false, true},
		},
		{
			"a heap that has shrunk to half is looked into again",
			[]usage{
				{allocated: 601 * mb, live: 100 * mb, held: 300 * mb},
				{allocated: 602 * mb, live: 100 * mb, held: 300 * mb},
				{allocated: 800 * mb, live: 50 * mb, held: keptByTest},
				{allocated: 801 * mb, live: 50 * mb, held: keptByTest},
			},
			[]bool{false, true, false, true},
		},
	} {
		t.Run(test.reason, func(t *testing.T) {
			var w watcher
			for i, now := range test.seen {
				if got := w.atRest(now); got != test.want[i] {
					t.Errorf("look %d: got %t", i, got)
				} else if got {
					w.held = keptByTest
				}
			}
		})
	}
}

func TestMemoryIsGivenBack(t *testing.T) {
	garbage := make([][]byte, 0, 128)
	for range cap(garbage) {
		garbage = append(garbage, make([]byte, mb))
	}
	runtime.GC()
	held := read().held
	runtime.KeepAlive(garbage)
	garbage = nil
	_ = garbage

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		ReleaseAtRest(ctx)
	}()
	defer func() { cancel(); <-ended }()
	// Go notices garbage when more is made, or every other minute.
	runtime.GC()
	poll := time.NewTicker(10 * time.Millisecond)
	defer poll.Stop()
	for read().held > held-64*mb {
		select {
		case <-ctx.Done():
			t.Fatalf("the heap held %d MB, and holds %d MB", held/mb, read().held/mb)
		case <-poll.C:
		}
	}
}

func TestFilesAtRest(t *testing.T) {
	for reason, test := range map[string]struct {
		allocated, resident []uint64
		want                []bool
	}{
		"nothing is known of the first look": {[]uint64{500 * mb}, []uint64{200 * mb}, []bool{false}},
		"once after work, again when as much has come again": {
			[]uint64{500 * mb, 600 * mb, 601 * mb, 602 * mb, 603 * mb, 604 * mb},
			[]uint64{200 * mb, 300 * mb, 300 * mb, 90 * mb, 105 * mb, 120 * mb},
			[]bool{false, false, true, false, false, true},
		},
	} {
		t.Run(reason, func(t *testing.T) {
			var f fileWatcher
			for i, allocated := range test.allocated {
				got := f.atRest(allocated, test.resident[i])
				if got != test.want[i] {
					t.Errorf("look %d: got %t", i, got)
				}
				if got {
					f.released = 90 * mb
				}
			}
		})
	}
}
