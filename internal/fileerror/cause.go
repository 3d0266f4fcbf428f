// Package fileerror is about errors of the file system in messages that name files in words
// of their own: as people have given them, and not as they are called for the time being.
package fileerror

import (
	"errors"
	"io/fs"
	"os"
)

// Cause returns why something could not be done to a file, without the name that the file
// has in err: "permission denied". What is no error about a file is returned as it is.
func Cause(err error) error {
	if named, ok := errors.AsType[*fs.PathError](err); ok {
		return named.Err
	}
	if named, ok := errors.AsType[*os.LinkError](err); ok {
		return named.Err
	}
	return err
}
