package memory

import (
	"bytes"
	"context"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// settling is how long a program that is ready still runs what it runs once only.
const settling = time.Second

// ReleaseProgramAtRest lets go of the pages of the program itself now and a little later, unless ctx has ended by
// then.
func ReleaseProgramAtRest(ctx context.Context) {
	releaseProgram()
	select {
	case <-time.After(settling):
		releaseProgram()
	case <-ctx.Done():
	}
}

// releaseProgram lets go of the pages of the program itself. Most of what a program of this
// size has in memory has been run once, when it started; what is run again comes back from
// the page cache, a few pages at a time. It is for programs that run beside many others, and
// for a short time.
//
// Pages that can only be read hold what the file holds, so dropping them loses nothing.
func releaseProgram() {
	self, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	data, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return
	}
	for line := range bytes.Lines(data) {
		if from, to, ok := programPages(string(line), self); ok {
			_, _, _ = unix.Syscall(unix.SYS_MADVISE, from, to-from, unix.MADV_DONTNEED)
		}
	}
}

// programPages returns the addresses of a mapping, as the kernel describes it, if it is one
// of the file called self that nobody can have written to.
func programPages(line, self string) (from, to uintptr, ok bool) {
	fields := strings.Fields(line)
	if len(fields) != 6 || fields[5] != self || fields[1] != "r-xp" && fields[1] != "r--p" {
		return 0, 0, false
	}
	first, second, _ := strings.Cut(fields[0], "-")
	low, err := strconv.ParseUint(first, 16, 64)
	if err != nil {
		return 0, 0, false
	}
	high, err := strconv.ParseUint(second, 16, 64)
	if err != nil || high <= low {
		return 0, 0, false
	}
	return uintptr(low), uintptr(high), true
}
