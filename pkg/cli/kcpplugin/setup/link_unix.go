//go:build !windows

package setup

import "os"

// makeLink makes file lead to target.
func makeLink(target, file string) error { return os.Symlink(target, file) }
