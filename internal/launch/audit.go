package launch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/forkless/kcp/internal/fileerror"
)

// checkAuditLog says why the audit log cannot be written to a path, and leaves no trace of
// having looked. What writes it makes the directories that are missing.
func checkAuditLog(path string) error {
	const standardOutput = "-"
	if path == "" || path == standardOutput {
		return nil
	}
	if err := appendable(path); err != nil {
		return fmt.Errorf("--audit-log-path=%s cannot be written: %w", path, fileerror.Cause(err))
	}
	return nil
}

// appendable says why nothing can be added to a file, or why it cannot be made.
func appendable(path string) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		// Opening a pipe that nobody reads yet would take until somebody does.
		return nil
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err == nil {
		return file.Close()
	}
	for at := filepath.Dir(path); errors.Is(err, fs.ErrNotExist); at = filepath.Dir(at) {
		if _, err = os.Stat(at); err == nil {
			return fileerror.Writable(at)
		}
		if at == filepath.Dir(at) {
			return err
		}
	}
	return err
}
