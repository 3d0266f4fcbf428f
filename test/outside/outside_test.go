package outside

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const (
	checkout = "../.."
	module   = "testdata/module"
)

// copyModule copies the module to a directory, with what says where this repository is.
func copyModule(t *testing.T) string {
	t.Helper()
	directory := t.TempDir()
	if err := os.CopyFS(directory, os.DirFS(module)); err != nil {
		t.Fatal(err)
	}
	repository, err := filepath.Abs(checkout)
	if err != nil {
		t.Fatal(err)
	}
	definition := fmt.Sprintf(`module example.dev/widgets

go 1.26.0

require github.com/forkless/kcp v0.0.0

replace github.com/forkless/kcp => %q
`, repository)
	sums, err := os.ReadFile(filepath.Join(checkout, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"go.mod": []byte(definition), "go.sum": sums} {
		if err := os.WriteFile(filepath.Join(directory, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return directory
}

// TestOutside: a module that requires this one, with a path to it and no other replacement,
// lists its modules, builds, and passes its tests without a network to get anything from.
func TestOutside(t *testing.T) {
	directory := copyModule(t)
	for _, run := range []struct {
		args    []string
		offline bool
	}{
		// It looks at all modules, while a build leaves out those that nothing imports. What
		// all of them require is fetched by the first command that looks at them.
		{args: []string{"list", "-m", "all"}},
		// It completes go.mod.
		{args: []string{"vet", "./..."}},
		{args: []string{"test", "-count=1", "./..."}, offline: true},
	} {
		args := run.args
		command := exec.CommandContext(t.Context(), "go", args...)
		command.Dir = directory
		command.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
		if run.offline {
			command.Env = append(command.Env, "GOPROXY=off")
		}
		output, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, output)
		}
		if args[0] == "test" && !strings.Contains(string(output), "example.dev/widgets") {
			t.Errorf("no tests were run:\n%s", output)
		}
	}
}

var goBlock = regexp.MustCompile("(?s)```go\n(.*?)```")

// TestDocuments: what the documents show is what the module has, so that it compiles.
func TestDocuments(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(module, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var code strings.Builder
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		code.Write(content)
	}
	for _, document := range []string{"control-plane-per-test.md", "envtest.md"} {
		content, err := os.ReadFile(filepath.Join(checkout, "docs", document))
		if err != nil {
			t.Fatal(err)
		}
		blocks := goBlock.FindAllSubmatch(content, -1)
		if len(blocks) == 0 {
			t.Errorf("%s shows no code", document)
		}
		for _, block := range blocks {
			if !strings.Contains(code.String(), string(block[1])) {
				t.Errorf("%s shows what is not in %s:\n%s", document, module, block[1])
			}
		}
	}
}
