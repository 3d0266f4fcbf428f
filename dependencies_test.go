package kcp

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"testing"
)

const dependenciesFile = "docs/design/dependencies.md"

var dependencyRow = regexp.MustCompile(`(?m)^\| ([a-z0-9.-]+\.[a-z]+/[^ ]+) \| [^|]+ \|$`)

// TestDependenciesAreDefended: each direct dependency is code that we answer for, so
// somebody wrote down why it is worth that.
func TestDependenciesAreDefended(t *testing.T) {
	document, err := os.ReadFile(dependenciesFile)
	if err != nil {
		t.Fatal(err)
	}
	var defended []string
	for _, row := range dependencyRow.FindAllStringSubmatch(string(document), -1) {
		defended = append(defended, row[1])
	}

	var mod struct {
		Require []struct {
			Path     string
			Indirect bool
		}
	}
	if err := json.Unmarshal(goCommand(t, "mod", "edit", "-json"), &mod); err != nil {
		t.Fatal(err)
	}
	for _, required := range mod.Require {
		if !required.Indirect && !slices.Contains(defended, required.Path) {
			t.Errorf("go.mod requires %s directly, and %s does not say why", required.Path, dependenciesFile)
		}
	}
}
