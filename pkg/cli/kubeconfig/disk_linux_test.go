package kubeconfig

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/forkless/kcp/internal/servertest/apart"
)

func TestEditOnFullDisk(t *testing.T) {
	if !apart.Run(t) {
		return
	}
	dir := apart.Mount(t, "16k", 0)
	file := filepath.Join(dir, "config")
	if err := os.WriteFile(file, []byte(adminFile), 0o600); err != nil {
		t.Fatal(err)
	}
	apart.Fill(t, dir, "filler")

	err := (&Flags{Path: file}).Store().Edit(t.Context(), switchTo(aURL))
	if err == nil || !strings.HasPrefix(err.Error(), "writing the kubeconfig: ") || !strings.HasSuffix(err.Error(), "no space left on device") {
		t.Errorf("the error says what is wrong, not: %v", err)
	}
	if got := read(t, file); got != adminFile {
		t.Errorf("the file is not what it was:\n%s", got)
	}
	expectNothingBeside(t, dir, "config", "filler")
}
