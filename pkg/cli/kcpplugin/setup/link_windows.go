package setup

import (
	"os"
	"path/filepath"
)

// makeLink makes file lead to target. Symbolic links need a privilege there, other links
// do not, on the same volume.
func makeLink(target, file string) error {
	if !filepath.IsAbs(target) {
		target = filepath.Join(filepath.Dir(file), target)
	}
	return os.Link(target, file)
}
