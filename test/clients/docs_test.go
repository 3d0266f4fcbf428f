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

const checkout = "../.."

// documents are what is run, and the Go code in them compared.
var documents = []string{"docs/clients.md", "docs/apis.md"}

// TestCommands runs the commands of the documents as they are printed.
func TestCommands(t *testing.T) {
	examples, err := filepath.Abs(checkout + "/examples")
	if err != nil {
		t.Fatal(err)
	}
	for _, document := range documents {
		t.Run(document, func(t *testing.T) {
			t.Parallel()
			tour.Run(t, filepath.Join(checkout, document), []string{programs.Examples(t)}, map[string]string{"examples": examples})
		})
	}
}

// quoted is Go code in a document; the file that it is from stands in its fence.
var quoted = regexp.MustCompile("(?s)```go ([^\n]+)\n(.*?)```")

// TestCode: the Go code in the documents is that of the examples, which TestCommands runs.
func TestCode(t *testing.T) {
	for _, document := range documents {
		text, err := os.ReadFile(filepath.Join(checkout, document))
		if err != nil {
			t.Fatal(err)
		}
		blocks := quoted.FindAllStringSubmatch(string(text), -1)
		if len(blocks) < 2 {
			t.Errorf("found %d blocks of Go code in %s that say which file they are from", len(blocks), document)
		}
		if all := strings.Count(string(text), "```go"); all != len(blocks) {
			t.Errorf("%d of %d blocks of Go code in %s do not say which file they are from", all-len(blocks), all, document)
		}
		for _, block := range blocks {
			code, err := os.ReadFile(filepath.Join(checkout, block[1]))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(code), block[2]) {
				t.Errorf("%s does not contain this, which %s shows of it:\n%s", block[1], document, block[2])
			}
		}
	}
}
