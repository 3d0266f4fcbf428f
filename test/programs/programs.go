// Package programs builds the programs that tests run as users run them: kcp, its kubectl
// plugins and kubectl itself.
//
// They go to bin/test of the checkout and stay there, so that a second run links nothing.
// Test binaries that run at the same time take turns.
package programs

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// packages are what is built. kubectl is of the version that the server is made of.
var packages = []string{
	"./cmd/...",
	"k8s.io/kubernetes/cmd/kubectl",
}

// examples are what is built of the module in the folder examples, which has the versions
// of libraries that others use.
var examples = []string{"./databases", "./greeter", "./initializer", "./notes", "./terminator", "helm.sh/helm/v4/cmd/helm"}

var (
	built         = sync.OnceValues(func() (string, error) { return build("", packages) })
	builtExamples = sync.OnceValues(func() (string, error) { return build("examples", examples) })
)

// Directory builds the programs, once for each test binary, and returns the folder they
// are in.
func Directory(t testing.TB) string {
	t.Helper()
	directory, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return directory
}

// Examples builds the example programs and helm, and returns the folder they are in.
func Examples(t testing.TB) string {
	t.Helper()
	directory, err := builtExamples()
	if err != nil {
		t.Fatal(err)
	}
	return directory
}

// Path builds the programs and returns the file of one of them.
func Path(t testing.TB, name string) string {
	t.Helper()
	return filepath.Join(Directory(t), name)
}

// build builds packages of a module, which is a folder of the checkout.
func build(module string, packages []string) (string, error) {
	root, err := checkout()
	if err != nil {
		return "", err
	}
	directory := filepath.Join(root, "bin", "test", module)
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return "", err
	}
	unlock, err := lockedfile.MutexAt(filepath.Join(directory, ".lock")).Lock()
	if err != nil {
		return "", fmt.Errorf("waiting for other tests to build: %w", err)
	}
	defer unlock()
	// Without paths in them, what is compiled is the same in every checkout; without symbols
	// linking takes half the time.
	args := append([]string{"build", "-buildvcs=false", "-trimpath", "-ldflags=-s -w", "-o", directory + string(filepath.Separator)}, packages...)
	cmd := exec.CommandContext(context.Background(), "go", args...)
	cmd.Dir = filepath.Join(root, module)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the programs: %w\n%s", err, output)
	}
	return directory, nil
}

// checkout returns the folder of go.mod; tests run in the folder of their package.
func checkout() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for directory := start; ; directory = filepath.Dir(directory) {
		if _, err := os.Stat(filepath.Join(directory, "go.mod")); err == nil {
			return directory, nil
		}
		if directory == filepath.Dir(directory) {
			return "", fmt.Errorf("no go.mod above %s", start)
		}
	}
}
