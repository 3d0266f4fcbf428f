package tenancy

import (
	"errors"
	"fmt"
)

// unresolvedError is what a request is told that names a type that is not there, or
// one that cannot be used as it is.
type unresolvedError struct{ message string }

func (e *unresolvedError) Error() string { return e.message }

func unresolved(format string, args ...any) error {
	return &unresolvedError{fmt.Sprintf(format, args...)}
}

// IsUnresolved says whether err means that what was asked for cannot be had: a type
// is missing, extends itself, or does not fit where it is wanted. Asking again helps
// only after somebody has changed something.
func IsUnresolved(err error) bool {
	var target *unresolvedError
	return errors.As(err, &target)
}
