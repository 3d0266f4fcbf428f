package kcp

import (
	"encoding/json"
	"errors"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const module = "github.com/forkless/kcp"

// goPackage is what `go list` says about a package.
type goPackage struct {
	ImportPath string
	Dir        string
	Imports    []string
	GoFiles    []string
	// ImportMap and tests are left out: tests may import from higher layers.
}

// name is the import path within the module.
func (p goPackage) name() string {
	return strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
}

// TestPackageComments: the comment is where a reader learns what a package is for.
func TestPackageComments(t *testing.T) {
	for _, p := range listPackages(t, "./...") {
		if len(p.GoFiles) == 0 {
			continue
		}
		var comments []string
		for _, file := range p.GoFiles {
			parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, file), nil, parser.PackageClauseOnly|parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			if parsed.Doc != nil && strings.TrimSpace(parsed.Doc.Text()) != "" {
				comments = append(comments, file)
			}
		}
		switch {
		case len(comments) == 0:
			t.Errorf("%s has no package comment: say what it is for, what it is not for, and what callers may rely on", p.name())
		case len(comments) > 1:
			t.Errorf("%s has package comments in %s: readers find only one of them", p.name(), strings.Join(comments, ", "))
		}
	}
}

// TestNoReplace: with a replace in go.mod, `go install` of our commands is refused, and
// whoever imports us gets other code than we tested.
func TestNoReplace(t *testing.T) {
	files := []string{
		"go.mod", "tools/go.mod", "tools/kubernetes/go.mod", "tools/release/go.mod",
		"test/conformance/go.mod", "test/envtest/go.mod", "examples/go.mod",
	}
	for _, file := range files {
		var mod struct{ Replace []any }
		if err := json.Unmarshal(goCommand(t, "mod", "edit", "-json", file), &mod); err != nil {
			t.Fatal(err)
		}
		if len(mod.Replace) > 0 {
			t.Errorf("%s has a replace: %v", file, mod.Replace)
		}
	}
}

// listPackages returns the packages that patterns match, with what they import.
func listPackages(t *testing.T, patterns ...string) []goPackage {
	t.Helper()
	return decodePackages(t, goCommand(t, append([]string{"list", "-json=ImportPath,Dir,Imports,GoFiles"}, patterns...)...))
}

func decodePackages(t *testing.T, data []byte) []goPackage {
	t.Helper()
	var packages []goPackage
	for decoder := json.NewDecoder(strings.NewReader(string(data))); ; {
		var p goPackage
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages
		}
		if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}

// goCommand runs the go command at the root of the repository, which is where go test
// runs this package.
func goCommand(t *testing.T, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, exit.Stderr)
	}
	if err != nil {
		t.Fatalf("go %s: %v", strings.Join(args, " "), err)
	}
	return out
}
