package display

import (
	"fmt"
	"slices"
	"strings"
)

// choice is a flag that has one of a few values.
type choice struct {
	value *string
	of    []string
}

// Set takes one of the values.
func (c *choice) Set(value string) error {
	if !slices.Contains(c.of, value) {
		return fmt.Errorf("it is one of %s", strings.Join(c.of, ", "))
	}
	*c.value = value
	return nil
}

// String returns the value.
func (c *choice) String() string {
	if c.value == nil {
		return ""
	}
	return *c.value
}

// Type is what help calls the value.
func (c *choice) Type() string { return "string" }
