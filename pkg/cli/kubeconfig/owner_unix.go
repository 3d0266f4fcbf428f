//go:build unix

package kubeconfig

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives the file called name the owner that info shows: root may edit the
// kubeconfig of a user, who must be able to read it afterwards. For anybody else the
// owner is right already, or cannot be changed.
func keepOwner(name string, info fs.FileInfo) {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		_ = os.Chown(name, int(stat.Uid), int(stat.Gid))
	}
}
