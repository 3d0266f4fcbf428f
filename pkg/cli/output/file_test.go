package output

import (
	"os"
	"path/filepath"
	"testing"
)

func TestReplaceable(t *testing.T) {
	folder := t.TempDir()
	plain := filepath.Join(folder, "plain")
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct{ reason, file, want string }{
		"Missing":   {"what is not there is in nobody's way", filepath.Join(folder, "new"), ""},
		"File":      {"a file is written anew", plain, ""},
		"Directory": {"nothing can take the place of a directory", folder, "is a directory"},
		"Device":    {"root would replace the device for all", os.DevNull, "not a regular file"},
		"Below":     {"a file has nothing in it", filepath.Join(plain, "x"), "not a directory"},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := Replaceable(tc.file); err != nil {
				got = err.Error()
			}
			if got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}
