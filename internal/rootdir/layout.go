package rootdir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

const layoutFile = "layout"

// CurrentLayout is the number of the layout of root directories. It is raised when a
// version writes what older ones cannot read.
const CurrentLayout = 1

// layout says what wrote a directory.
type layout struct {
	// Layout is the number of the layout.
	Layout int `json:"layout"`
	// Version is the version that wrote it.
	Version string `json:"version"`
}

// NewerLayoutError says that a directory was written by a version whose files this one
// cannot read.
type NewerLayoutError struct {
	// Label is what the directory was called.
	Label string
	// Writer is the version that wrote the directory, Reader the one that refuses it.
	Writer, Reader string
}

func (e *NewerLayoutError) Error() string {
	return fmt.Sprintf("%s was written by kcp %s, this is %s; nothing was changed", e.Label, e.Writer, e.Reader)
}

// checkLayout says whether the directory is one that no server has written into, or
// why it must not be touched.
func checkLayout(path, label, version string) (fresh bool, err error) {
	content, err := os.ReadFile(filepath.Join(path, layoutFile))
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading the version of %s: %w", label, err)
	}
	var found layout
	if err := json.Unmarshal(content, &found); err != nil {
		return false, fmt.Errorf("%s does not say which version wrote %s: %w", layoutFile, label, err)
	}
	if found.Layout > CurrentLayout {
		return false, &NewerLayoutError{Label: label, Writer: found.Version, Reader: version}
	}
	return false, nil
}

// writeLayout marks the directory as written by version.
func writeLayout(path, version string) error {
	content, err := json.Marshal(layout{Layout: CurrentLayout, Version: version})
	if err != nil {
		return err
	}
	content = append(content, '\n')
	file := filepath.Join(path, layoutFile)
	if old, err := os.ReadFile(file); err == nil && string(old) == string(content) {
		return nil
	}
	// Through another file, so that a crash leaves either the old mark or the new one.
	next := file + unfinished
	if err := os.WriteFile(next, content, fileMode); err != nil {
		return err
	}
	return os.Rename(next, file)
}
