package registry

import "io/fs"

// temporaryName is the name of the directory among the temporary files, which each user
// of Windows has for himself.
func temporaryName() string { return "kcp" }

// ownedAlone says whether nobody else can write into a directory. Those of other users
// are not where this one looks.
func ownedAlone(fs.FileInfo) bool { return true }
