package envtest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// rounds is how often each kind of programs is started. They take turns, so that what else the
// machine does slows both.
const rounds = 5

// TestStart says how long it takes until a test can begin, and what memory the programs then
// have: with kcp's, and with those of Kubernetes where KUBERNETES_ASSETS says where they are.
func TestStart(t *testing.T) {
	ours := os.Getenv("KUBEBUILDER_ASSETS")
	if ours == "" {
		t.Skip("KUBEBUILDER_ASSETS does not say which programs are to be started: see the target test-envtest")
	}
	kinds := map[string]string{"kcp": ours}
	if kubernetes := os.Getenv("KUBERNETES_ASSETS"); kubernetes != "" {
		kinds["Kubernetes"] = kubernetes
	}
	for range rounds {
		for kind, folder := range kinds {
			t.Logf("%-10s %s", kind, start(t, folder))
		}
	}
}

// start starts the programs in a folder, stops them, and says what that took.
func start(t *testing.T, folder string) string {
	t.Helper()
	t.Setenv("KUBEBUILDER_ASSETS", folder)
	environment := &envtest.Environment{}
	began := time.Now()
	if _, err := environment.Start(); err != nil {
		t.Fatal(err)
	}
	started := time.Since(began)
	memory := residentMemory(t, os.Getpid())
	began = time.Now()
	if err := environment.Stop(); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("started in %s, stopped in %s, resident memory %d MB",
		started.Round(time.Millisecond), time.Since(began).Round(time.Millisecond), memory/1_000_000)
}

// residentMemory is what the descendants of a process have in memory, in bytes, each with all
// its pages; 0 where there is no /proc.
func residentMemory(t *testing.T, parent int) int {
	t.Helper()
	statuses, err := filepath.Glob("/proc/[0-9]*/status")
	if err != nil {
		t.Fatal(err)
	}
	parents, resident := map[int]int{}, map[int]int{}
	for _, status := range statuses {
		text, err := os.ReadFile(status)
		if err != nil {
			continue // It has ended since.
		}
		process := field(string(text), "Pid:")
		parents[process] = field(string(text), "PPid:")
		resident[process] = field(string(text), "VmRSS:") * 1024
	}
	sum := 0
	for family := []int{parent}; len(family) > 0; family = family[1:] {
		for process, of := range parents {
			if of == family[0] {
				sum += resident[process]
				family = append(family, process)
			}
		}
	}
	return sum
}

// field is the number in a line of a process's status that begins with a name; 0 without one.
func field(status, name string) int {
	lines := strings.Split(status, "\n")
	at := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, name) })
	if at < 0 {
		return 0
	}
	words := strings.Fields(lines[at])
	number, _ := strconv.Atoi(words[1])
	return number
}
