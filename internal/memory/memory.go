package memory

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// interval is how often the process is looked at.
	interval = time.Second
	// quiet is how much a process at rest allocates in an interval, at most: health
	// checks and the odd request.
	quiet = 4 << 20
	// slack is how much the process may hold beyond what is live, or beyond what it held
	// when memory was last given back: pages that are partly in use cannot be.
	slack = 8 << 20
	// fileSlack is how much more of files may be in memory than when it was last given back.
	fileSlack = 16 << 20
	// worth and worthPart say how much has to be allocated after memory was given back until
	// it is looked into again, at least, and as a part of what is live: that takes a garbage
	// collection, which a process with a little work all the time should not pay for often.
	worth     = 32 << 20
	worthPart = 4
)

// ReleaseAtRest gives memory back whenever the process has come to rest, until ctx ends.
// It is about the process as a whole, so there should be one.
func ReleaseAtRest(ctx context.Context) {
	ticks := time.NewTicker(interval)
	defer ticks.Stop()
	var w watcher
	var f fileWatcher
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
			now := read()
			if w.atRest(now) {
				debug.FreeOSMemory()
				w.held = read().held
			}
			if f.atRest(now.allocated, residentFiles()) {
				releaseFiles()
				f.released = residentFiles()
			}
		}
	}
}

// usage is what a process has and does.
type usage struct {
	// allocated is everything ever allocated on the heap, live what the last garbage
	// collection found in use, and held what the heap takes of the system's memory. All
	// are in bytes.
	allocated, live, held uint64
}

// watcher notices when a process comes to rest.
type watcher struct {
	// before is how it was an interval ago.
	before  usage
	started bool
	// released is what had been allocated when memory was last given back, and held what was
	// held right after that.
	released, held uint64
}

// atRest says whether memory should be given back now.
func (w *watcher) atRest(now usage) bool {
	before, started := w.before, w.started
	w.before, w.started = now, true
	switch {
	case !started, now.allocated-before.allocated > quiet:
		return false
	case now.held <= max(now.live, min(w.held, now.live+now.live/2))+slack:
		return false
	case w.released != 0 && now.allocated-w.released < max(worth, now.live/worthPart):
		return false
	}
	w.released = now.allocated
	return true
}

// fileWatcher notices when a process at rest has much of files in memory.
type fileWatcher struct {
	// before is what had been allocated an interval ago, and released how much of files was
	// in memory when it was last given back: the program itself, and what is read always.
	before, released uint64
}

// atRest says whether pages of files should be given back now.
func (f *fileWatcher) atRest(allocated, resident uint64) bool {
	quietly := f.before != 0 && allocated-f.before <= quiet
	f.before = allocated
	return quietly && resident > f.released+fileSlack
}

// read returns the usage of this process.
func read() usage {
	samples := []metrics.Sample{
		{Name: "/gc/heap/allocs:bytes"},
		{Name: "/gc/heap/live:bytes"},
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/unused:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
	}
	metrics.Read(samples)
	value := func(i int) uint64 { return samples[i].Value.Uint64() }
	return usage{allocated: value(0), live: value(1), held: value(2) + value(3) + value(4)}
}
