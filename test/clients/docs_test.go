package clients

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/forkless/kcp/test/programs"
	"github.com/forkless/kcp/test/tour"
)

const (
	checkout = "../.."
	document = checkout + "/docs/clients.md"
)

// TestCommands runs the commands of the document as they are printed.
func TestCommands(t *testing.T) {
	examples, err := filepath.Abs(checkout + "/examples")
	if err != nil {
		t.Fatal(err)
	}
	tour.Run(t, document, []string{programs.Examples(t)}, map[string]string{"examples": examples})
}

// quoted is Go code in the document; the file that it is from stands in its fence.
var quoted = regexp.MustCompile("(?s)```go ([^\n]+)\n(.*?)```")

// TestCode: the Go code in the document is that of the examples, which TestCommands runs.
func TestCode(t *testing.T) {
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	blocks := quoted.FindAllStringSubmatch(string(text), -1)
	if len(blocks) < 2 {
		t.Fatalf("found %d blocks of Go code that say which file they are from", len(blocks))
	}
	if all := strings.Count(string(text), "```go"); all != len(blocks) {
		t.Errorf("%d of %d blocks of Go code do not say which file they are from", all-len(blocks), all)
	}
	for _, block := range blocks {
		code, err := os.ReadFile(filepath.Join(checkout, block[1]))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(code), block[2]) {
			t.Errorf("%s does not contain this, which the document shows of it:\n%s", block[1], block[2])
		}
	}
}
