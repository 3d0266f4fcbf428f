package memory

import (
	"os"
	"testing"
)

// TestReleaseProgram: a program goes on without its pages, and reads what it has read.
func TestReleaseProgram(t *testing.T) {
	if unchangedProgram() == "" {
		t.Skip("this program was changed when it was loaded")
	}
	before := residentFiles()
	releaseProgram()
	after := residentFiles()
	if before > 0 && after >= before {
		t.Errorf("%d bytes of files are in memory, and %d were", after, before)
	}
	if _, err := os.Executable(); err != nil {
		t.Error(err)
	}
}
