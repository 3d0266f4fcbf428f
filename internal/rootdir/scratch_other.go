//go:build !linux

package rootdir

import "os"

// memoryBase returns the folder for scratch directories. The system keeps what is not
// synchronized in memory for a while, which is as near as it gets.
func memoryBase() string { return os.TempDir() }
