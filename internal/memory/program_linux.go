package memory

import (
	"context"
	"debug/elf"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// A program that is ready still runs what it runs once only, for as long as settled. What
// that takes is given back at short intervals, because whoever has waited for the program
// looks at it soon: finding again what is needed again takes a millisecond.
const (
	settling = 20 * time.Millisecond
	settled  = time.Second
)

// ReleaseProgramAtRest lets go of the pages of the program itself now and for a second, unless
// ctx has ended by then. It is for programs that run beside many others, and for a short time.
func ReleaseProgramAtRest(ctx context.Context) {
	releaseProgram()
	ticks := time.NewTicker(settling)
	defer ticks.Stop()
	for range settled / settling {
		select {
		case <-ticks.C:
			releaseProgram()
		case <-ctx.Done():
			return
		}
	}
}

// releaseProgram lets go of the pages of the program itself. Most of what a program of this
// size has in memory has been run once, when it started; what is run again comes back from
// the page cache, a few pages at a time.
//
// They are as they are in the file, so that nothing is lost.
func releaseProgram() {
	program := unchangedProgram()
	for m := range mappings() {
		if m.isProgram(program) {
			m.advise(unix.MADV_DONTNEED)
		}
	}
}

// unchangedProgram returns the file of this program if what is mapped of it to be read is
// what the file has. A loader that relocates a program writes into such pages and protects
// them afterwards; programs that are linked statically, as ours are, have none.
var unchangedProgram = sync.OnceValue(func() string {
	const self = "/proc/self/exe"
	file, err := elf.Open(self)
	if err != nil {
		return ""
	}
	defer func() { _ = file.Close() }()
	relocated := slices.ContainsFunc(file.Progs, func(p *elf.Prog) bool {
		return p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC || p.Type == elf.PT_GNU_RELRO
	})
	if file.Type != elf.ET_EXEC || relocated {
		return ""
	}
	name, _ := os.Readlink(self)
	return name
})
