package server_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/forkless/kcp/internal/servertest"
)

// TestInMemory: nothing of the data is in the root directory, nor anywhere once the server
// has stopped.
func TestInMemory(t *testing.T) {
	s := servertest.Start(t, "--in-memory")
	s.Workspace(t, "root", "a")
	if _, err := os.Stat(filepath.Join(s.RootDirectory, "etcd-server")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the root directory has the database: %v", err)
	}
	s.Stop()
	again := servertest.StartIn(t, s.RootDirectory, "--in-memory")
	again.Workspace(t, "root", "a")
}
