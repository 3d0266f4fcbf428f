package memory

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestFileAt(t *testing.T) {
	for line, want := range map[string]bool{
		"7f0c00000000-7f0e80000000 r--s 00000000 fe:00 1234                       /var/lib/kcp/etcd/member/snap/db\n": true,
		"7f0c00000000-7f0e80000000 r--s 00000000 fe:00 1234                       /var/lib/with a space/db\n":         true,
		"00400000-02a00000 r-xp 00000000 fe:00 99                                 /usr/bin/kcp\n":                     false,
		"00400000-02a00000 r--p 00000000 fe:00 99                                 /usr/bin/kcp\n":                     false,
		"c000000000-c004000000 rw-p 00000000 00:00 0\n":                                                               false,
		"7ffc0-7ffc1 r--s 00000000 00:00 0                                        [vvar]\n":                           false,
		"x-y r--s 00000000 fe:00 1234 /db\n":                                                                          false,
		"":                                                                                                            false,
	} {
		from, to, ok := fileAt(line, "r--s", "")
		if ok != want || ok && to-from != 0x280000000 {
			t.Errorf("%q: %t, %x to %x", line, ok, from, to)
		}
	}
}

func TestFileAtOfTheProgram(t *testing.T) {
	const line = "00400000-02a00000 r-xp 00000000 fe:00 99                                 /usr/bin/kcp\n"
	if from, to, ok := fileAt(line, "r-xp", "/usr/bin/kcp"); !ok || from != 0x400000 || to != 0x2a00000 {
		t.Errorf("got %x to %x, %t", from, to, ok)
	}
	if _, _, ok := fileAt(line, "r-xp", "/usr/bin/other"); ok {
		t.Error("a library is not the program")
	}
}

// TestReleaseFiles: what is mapped is the same after it has been given back.
func TestReleaseFiles(t *testing.T) {
	const size = 64 << 20
	content := bytes.Repeat([]byte("content."), size/8)
	name := filepath.Join(t.TempDir(), "db")
	if err := os.WriteFile(name, content, 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	// Pages that have not been written yet stay.
	if err := file.Sync(); err != nil {
		t.Fatal(err)
	}
	mapped, err := unix.Mmap(int(file.Fd()), 0, size, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Munmap(mapped) }()
	if !bytes.Equal(mapped, content) {
		t.Fatal("what was mapped is not what was written")
	}
	before := residentFiles()
	if before < size {
		t.Fatalf("%d bytes of files are in memory, and %d have just been read", before, size)
	}
	releaseFiles()
	if after := residentFiles(); after > before-size/2 && !pageoutRefused() && !inMemory(t, name) {
		t.Errorf("%d bytes of files are in memory, %d were", after, before)
	}
	if !bytes.Equal(mapped, content) {
		t.Error("what is mapped has changed")
	}
}

// pageoutRefused says whether the kernel does not know the advice.
func pageoutRefused() bool {
	page, err := unix.Mmap(-1, 0, os.Getpagesize(), unix.PROT_READ, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return true
	}
	defer func() { _ = unix.Munmap(page) }()
	return unix.Madvise(page, unix.MADV_PAGEOUT) != nil
}

// inMemory says whether a file lies in a file system that has no other place for it.
func inMemory(t *testing.T, name string) bool {
	t.Helper()
	var fs unix.Statfs_t
	if err := unix.Statfs(name, &fs); err != nil {
		t.Fatal(err)
	}
	return fs.Type == unix.TMPFS_MAGIC || fs.Type == unix.RAMFS_MAGIC
}
