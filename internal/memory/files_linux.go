package memory

import (
	"bytes"
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

// releaseFiles lets the kernel take the pages of files that are mapped to be read and
// shared: that of the embedded etcd. They are read again when they are needed.
//
// A mapping may be gone, and another in its place, before the kernel is asked. That is why
// this is the advice that may be given about any memory: it moves pages and never drops what
// is not stored elsewhere. A kernel that does not know it, before Linux 5.4, refuses it.
func releaseFiles() {
	data, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return
	}
	for line := range bytes.Lines(data) {
		if from, to, ok := sharedFile(string(line)); ok {
			_, _, _ = unix.Syscall(unix.SYS_MADVISE, from, to-from, unix.MADV_PAGEOUT)
		}
	}
}

// sharedFile returns the addresses of a mapping, as the kernel describes it, if it is one of
// a file to be read and shared.
func sharedFile(line string) (from, to uintptr, ok bool) {
	const readShared = "r--s"
	fields := strings.Fields(line)
	if len(fields) < 6 || fields[1] != readShared || !strings.HasPrefix(fields[5], "/") {
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
