//go:build !unix

package kubeconfig

import "io/fs"

// keepOwner does nothing where a new file inherits its owner from the directory.
func keepOwner(string, fs.FileInfo) {}
