package fileerror

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestCause(t *testing.T) {
	directory := t.TempDir()
	missing := filepath.Join(directory, "missing")
	_, opening := os.Open(missing)
	other := errors.New("something else")
	for name, tc := range map[string]struct {
		reason string
		given  error
		// want is what it is itself, as what it counts as.
		want, as error
	}{
		"None":    {reason: "nothing has gone wrong"},
		"Opening": {reason: "the file is named elsewhere", given: opening, as: fs.ErrNotExist},
		"Wrapped": {reason: "wherever in the chain it is", given: fmt.Errorf("reading: %w", opening), as: fs.ErrNotExist},
		"Moving":  {reason: "two names tell no more than one", given: os.Rename(missing, missing+"2"), as: fs.ErrNotExist},
		"Other":   {reason: "other errors say all there is", given: other, want: other},
	} {
		got := Cause(tc.given)
		if tc.as == nil && !errors.Is(got, tc.want) {
			t.Errorf("%s: %s: %v", name, tc.reason, got)
		}
		if tc.as != nil && (!errors.Is(got, tc.as) || errors.Unwrap(got) != nil) {
			t.Errorf("%s: %s: %v", name, tc.reason, got)
		}
	}
}
