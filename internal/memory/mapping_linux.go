package memory

import (
	"bytes"
	"iter"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// mapping is a range of addresses of this process that stands for a part of a file.
type mapping struct {
	from, to uintptr
	// mode is how it may be used, such as "r--s", and file the path of the file.
	mode, file string
}

// advise tells the kernel what will become of the pages. That it does not listen changes
// nothing but how much memory is in use.
func (m mapping) advise(advice uintptr) {
	_, _, _ = unix.Syscall(unix.SYS_MADVISE, m.from, m.to-m.from, advice)
}

// isProgram says whether it is a part of the program, of the file of this name, that can
// only be read.
func (m mapping) isProgram(name string) bool {
	return name != "" && m.file == name && (m.mode == "r-xp" || m.mode == "r--p")
}

// mappings yields the files that are mapped into this process; none if that cannot be told.
func mappings() iter.Seq[mapping] {
	return func(yield func(mapping) bool) {
		data, err := os.ReadFile("/proc/self/maps")
		if err != nil {
			return
		}
		for line := range bytes.Lines(data) {
			if m, ok := parseMapping(string(line)); ok && !yield(m) {
				return
			}
		}
	}
}

// parseMapping reads a line of /proc/self/maps. ok is false if it is not about a file.
func parseMapping(line string) (m mapping, ok bool) {
	const fixed = 5
	fields := strings.Fields(line)
	if len(fields) <= fixed || !strings.HasPrefix(fields[fixed], "/") {
		return mapping{}, false
	}
	first, second, _ := strings.Cut(fields[0], "-")
	from, err := strconv.ParseUint(first, 16, 64)
	if err != nil {
		return mapping{}, false
	}
	to, err := strconv.ParseUint(second, 16, 64)
	if err != nil || to <= from {
		return mapping{}, false
	}
	return mapping{uintptr(from), uintptr(to), fields[1], strings.Join(fields[fixed:], " ")}, true
}
