package memory

import (
	"bytes"
	"debug/elf"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

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
	data, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return
	}
	program := unchangedProgram()
	for line := range bytes.Lines(data) {
		if from, to, ok := fileAt(string(line), "r--s", ""); ok {
			_, _, _ = unix.Syscall(unix.SYS_MADVISE, from, to-from, unix.MADV_PAGEOUT)
		}
		for _, mode := range []string{"r-xp", "r--p"} {
			if program == "" {
				break
			}
			// It is as it is in the file, so that nothing is lost.
			if from, to, ok := fileAt(string(line), mode, program); ok {
				_, _, _ = unix.Syscall(unix.SYS_MADVISE, from, to-from, unix.MADV_DONTNEED)
			}
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

// fileAt returns the addresses of a mapping, as the kernel describes it, if it is one of a
// file with this mode; of the file called name, unless that is empty.
func fileAt(line, mode, name string) (from, to uintptr, ok bool) {
	fields := strings.Fields(line)
	if len(fields) < 6 || fields[1] != mode || !strings.HasPrefix(fields[5], "/") || name != "" && fields[5] != name {
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
