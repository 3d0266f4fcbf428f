//go:build unix

package ci

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// block finds what stands between fences, with its language.
var block = regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$")

// TestRecipes checks what docs/ci.md has for copying.
func TestRecipes(t *testing.T) {
	page, err := os.ReadFile("../../docs/ci.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, found := range block.FindAllStringSubmatch(string(page), -1) {
		language, text := found[1], found[2]
		seen[language]++
		switch language {
		case "yaml":
			checkPipeline(t, text)
		case "make":
			checkMakefile(t, text)
		case "sh":
			checkScript(t, text)
		default:
			t.Errorf("nobody checks %s", language)
		}
	}
	if seen["yaml"] != 3 || seen["make"] != 1 || seen["sh"] != 1 {
		t.Errorf("the page has %v", seen)
	}
}

// checkPipeline reads a pipeline, and checks its scripts and what it gives to the action.
func checkPipeline(t *testing.T, text string) {
	t.Helper()
	var pipeline map[string]any
	if err := yaml.UnmarshalStrict([]byte(text), &pipeline); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	known := readAction(t).Inputs
	var visit func(value any)
	visit = func(value any) {
		switch v := value.(type) {
		case []any:
			for _, item := range v {
				visit(item)
			}
		case map[string]any:
			for key, item := range v {
				switch script := item.(type) {
				case string:
					if key == "run" {
						checkScript(t, script)
					}
				case []any:
					if key == "script" || key == "before_script" {
						for _, line := range script {
							checkScript(t, line.(string))
						}
					}
				}
				visit(item)
			}
			if uses, _ := v["uses"].(string); strings.HasPrefix(uses, "forkless/kcp/action@") {
				for input := range v["with"].(map[string]any) {
					if _, ok := known[input]; !ok {
						t.Errorf("the action has no input %s", input)
					}
				}
			}
		}
	}
	visit(pipeline)
}

func checkScript(t *testing.T, script string) {
	t.Helper()
	if out, err := exec.Command("bash", "-n", "-c", script).CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", script, err, out)
	}
}

// checkMakefile lets make say what it would do for each target.
func checkMakefile(t *testing.T, text string) {
	t.Helper()
	directory := t.TempDir()
	if err := os.MkdirAll(filepath.Join(directory, "config", "platform"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(directory, "Makefile"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for target, want := range map[string]string{
		"test": "kcp run --apply config/crds -- go test ./...",
		"e2e":  "kcp run --snapshot platform.tar --bind root:platform:certs -- go test ./e2e/...",
	} {
		cmd := exec.Command("make", "-n", "KCP=kcp", target)
		cmd.Dir = directory
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), want+"\n") {
			t.Errorf("make -n %s: %v\n%s", target, err, out)
		}
	}
}
