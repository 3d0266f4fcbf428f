package memory

import (
	"os"
	"testing"
)

func TestProgramPages(t *testing.T) {
	const self = "/usr/bin/kcp"
	for line, want := range map[string]bool{
		"00400000-02a00000 r-xp 00000000 fe:00 99                                 /usr/bin/kcp\n":     true,
		"00400000-02a00000 r--p 00000000 fe:00 99                                 /usr/bin/kcp\n":     true,
		"00400000-02a00000 rw-p 00000000 fe:00 99                                 /usr/bin/kcp\n":     false,
		"00400000-02a00000 r-xp 00000000 fe:00 99                                 /usr/lib/libc.so\n": false,
		"c000000000-c004000000 r--p 00000000 00:00 0\n":                                               false,
		"x-y r-xp 00000000 fe:00 99 /usr/bin/kcp\n":                                                   false,
	} {
		if _, _, ok := programPages(line, self); ok != want {
			t.Errorf("%q: %t", line, ok)
		}
	}
}

// TestReleaseProgram: a program goes on without its pages, and reads what it has read.
func TestReleaseProgram(t *testing.T) {
	before := residentFiles()
	releaseProgram()
	after := residentFiles()
	if before > 0 && after >= before {
		t.Errorf("%d bytes of files are in memory, and %d were", after, before)
	}
	if _, err := os.Executable(); err != nil {
		t.Error(err)
	}
}
