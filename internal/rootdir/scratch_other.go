//go:build !linux

package rootdir

import "os"

// memoryFolders are those that memoryBase may return beside that for temporary files.
var memoryFolders []string

// memoryBase returns the folder for scratch directories. The system keeps what is not
// synchronized in memory for a while, which is as near as it gets.
func memoryBase() string { return os.TempDir() }
