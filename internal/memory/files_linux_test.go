package memory

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

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
