package inprocess_test

import (
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/forkless/kcp/internal/inprocess"
)

// TestEndedWhileStarting: what a server says that ends before it is ready is said once.
func TestEndedWhileStarting(t *testing.T) {
	taken, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	_, err = inprocess.Start(t.Context(), filepath.Join(t.TempDir(), ".kcp"), "--in-memory", "--profiler-address="+taken.Addr().String())
	if err == nil {
		t.Fatal("a server listens where another one does")
	}
	if n := strings.Count(err.Error(), "--profiler-address"); n != 1 {
		t.Errorf("it is said %d times what is wrong: %v", n, err)
	}
}
