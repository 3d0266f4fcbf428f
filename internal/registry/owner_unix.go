//go:build unix

package registry

import (
	"io/fs"
	"os"
	"strconv"
	"syscall"
)

// temporaryName is the name of the directory of a user among the temporary files of all.
func temporaryName() string { return "kcp-" + strconv.Itoa(os.Getuid()) }

// ownedAlone says whether a directory is this user's, and nobody else can write into it.
func ownedAlone(info fs.FileInfo) bool {
	owner, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(owner.Uid) == os.Getuid() && info.Mode().Perm()&0o022 == 0
}
