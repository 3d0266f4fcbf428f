package watcher

import (
	"os"
	"runtime"
)

// executable returns the path of the program of this process, which on Linux leads there even
// if somebody has replaced or removed the file.
func executable() (string, error) {
	const self = "/proc/self/exe"
	if runtime.GOOS == "linux" {
		if _, err := os.Stat(self); err == nil {
			return self, nil
		}
	}
	return os.Executable()
}
