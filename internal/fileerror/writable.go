package fileerror

import (
	"errors"
	"os"
)

// Writable says why no file can be made in a directory, and leaves no trace of having looked.
func Writable(directory string) error {
	probe, err := os.CreateTemp(directory, ".kcp-*")
	if err != nil {
		return Cause(err)
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}
