//go:build unix

package launch

import (
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestAuditLogPipe: whoever reads the audit log from a pipe may come after the server.
func TestAuditLogPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Skipf("there are no pipes here: %v", err)
	}
	checked := make(chan error, 1)
	go func() { checked <- checkAuditLog(pipe) }()
	select {
	case err := <-checked:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("the check waits for a reader")
	}
}
