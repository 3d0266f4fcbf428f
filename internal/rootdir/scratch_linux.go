package rootdir

import (
	"os"

	"golang.org/x/sys/unix"
)

const (
	// sharedMemory is where Linux has a file system in memory.
	sharedMemory = "/dev/shm"
	// roomInMemory is how many bytes there should be: containers often have 64 MiB, which a
	// database fills.
	roomInMemory = 1 << 30
)

// memoryFolders are those that memoryBase may return beside that for temporary files.
var memoryFolders = []string{sharedMemory}

// memoryBase returns the folder for scratch directories: one in memory if it has room.
func memoryBase() string {
	var fs unix.Statfs_t
	if err := unix.Statfs(sharedMemory, &fs); err != nil || fs.Type != unix.TMPFS_MAGIC {
		return os.TempDir()
	}
	if fs.Bavail*uint64(fs.Bsize) < roomInMemory || unix.Access(sharedMemory, unix.W_OK) != nil {
		return os.TempDir()
	}
	return sharedMemory
}
