package memory

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// residentFiles returns how many bytes of files are in the memory of this process; 0 if
// that cannot be told.
func residentFiles() uint64 {
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	const shared = 2
	fields := strings.Fields(string(data))
	if len(fields) <= shared {
		return 0
	}
	pages, err := strconv.ParseUint(fields[shared], 10, 64)
	if err != nil {
		return 0
	}
	return pages * uint64(os.Getpagesize())
}

// releaseFiles lets the kernel take the pages of files that are mapped to be read: that of
// the embedded etcd, and the program itself, most of which runs at the start only. They are
// read again when they are needed; those of the program stay in the kernel's cache, where
// finding them again takes a microsecond.
//
// A mapping may be gone, and another in its place, before the kernel is asked. That is why
// this is the advice that may be given about any memory: it moves pages and never drops what
// is not stored elsewhere. A kernel that does not know it, before Linux 5.4, refuses it.
func releaseFiles() {
	for m := range mappings() {
		if m.mode == "r--s" {
			m.advise(unix.MADV_PAGEOUT)
		}
	}
	releaseProgram()
}
