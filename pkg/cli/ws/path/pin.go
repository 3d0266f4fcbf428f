package path

import (
	"errors"
	"regexp"
)

var (
	pinRegexp  = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$`)
	errPinName = errors.New("a pin has letters, digits, dots and dashes, and begins and ends with a letter or a digit")
)

// CheckPin returns an error if name cannot be the name of a pin.
func CheckPin(name string) error {
	if !validPin(name) {
		return errPinName
	}
	return nil
}

func validPin(name string) bool { return pinRegexp.MatchString(name) }
