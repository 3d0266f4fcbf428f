//go:build unix

package ci

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/forkless/kcp/test/programs"
)

const (
	folder  = "../../action"
	version = "v0.3.0"
)

// action is what a composite action may have, as far as ours does.
type action struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Inputs      map[string]struct {
		Description string `json:"description"`
		Required    bool   `json:"required"`
		Default     string `json:"default"`
	} `json:"inputs"`
	Runs struct {
		Using string `json:"using"`
		Steps []step `json:"steps"`
	} `json:"runs"`
}

type step struct {
	Name  string            `json:"name"`
	If    string            `json:"if,omitempty"`
	Shell string            `json:"shell"`
	Env   map[string]string `json:"env,omitempty"`
	Run   string            `json:"run"`
}

func readAction(t *testing.T) *action {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(folder, "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	a := &action{}
	if err := yaml.UnmarshalStrict(content, a); err != nil {
		t.Fatal(err)
	}
	return a
}

// TestActionIsWellFormed holds the rules of composite actions: each step has a shell, inputs
// that are named are there, and no input is part of a script, where it could be anything.
func TestActionIsWellFormed(t *testing.T) {
	a := readAction(t)
	if a.Name == "" || a.Description == "" || a.Runs.Using != "composite" || len(a.Runs.Steps) == 0 {
		t.Errorf("the action lacks something: %+v", a)
	}
	for name, input := range a.Inputs {
		if input.Description == "" || input.Required {
			t.Errorf("input %s: %+v", name, input)
		}
	}
	for _, s := range a.Runs.Steps {
		if s.Name == "" || s.Shell != "bash" || strings.Contains(s.Run, "${{") {
			t.Errorf("step %+v", s)
		}
		check := exec.Command("bash", "-n", "-c", s.Run)
		if out, err := check.CombinedOutput(); err != nil {
			t.Errorf("step %s: %v\n%s", s.Name, err, out)
		}
		for _, value := range s.Env {
			name, isInput := strings.CutPrefix(strings.TrimSuffix(value, " }}"), "${{ inputs.")
			if _, known := a.Inputs[name]; isInput && !known {
				t.Errorf("step %s: there is no input %s", s.Name, name)
			}
		}
	}
}

// TestAction runs the steps of the action with a release that is on this disk.
func TestAction(t *testing.T) {
	r := &runner{inputs: map[string]string{
		"version": version, "run": "kubectl ws .; echo \"$KCP_WORKSPACE\"", "detach": "true", "args": "--in 'root:ci'",
	}, temp: t.TempDir(), releases: "file://" + release(t, nil)}
	out, err := r.steps(t, readAction(t))
	t.Cleanup(func() { _, _ = r.bash("kcp stop $KCP_RUN_ID") })
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !strings.Contains(out, "Current workspace is 'root:ci'.\nroot:ci\n") {
		t.Errorf("the script has printed:\n%s", out)
	}
	if out, err := r.bash("kubectl ws . --short && kcp stop $KCP_RUN_ID"); err != nil || !strings.HasPrefix(out, "root:ci\n") {
		t.Errorf("the steps that follow: %v\n%s", err, out)
	}
}

// TestActionRefusesOtherFiles shows that an archive that was changed is not run.
func TestActionRefusesOtherFiles(t *testing.T) {
	r := &runner{inputs: map[string]string{"version": version}, temp: t.TempDir(), releases: "file://" + release(t, []byte("changed"))}
	if out, err := r.steps(t, readAction(t)); err == nil || !strings.Contains(out, "is not what its release says it is") {
		t.Errorf("%v\n%s", err, out)
	}
}

// release makes a release with the kcp of this checkout, and returns where it is. What is in
// more is in the archive, but not in its checksum.
func release(t *testing.T, more []byte) string {
	t.Helper()
	directory := t.TempDir()
	if err := os.Mkdir(filepath.Join(directory, version), 0o755); err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("kcp_%s_%s_%s.tar.gz", strings.TrimPrefix(version, "v"), runtime.GOOS, runtime.GOARCH)
	file, err := os.Create(filepath.Join(directory, version, name))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.New()
	pack(t, io.MultiWriter(file, sum))
	if _, err := file.Write(more); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	line := hex.EncodeToString(sum.Sum(nil)) + "  " + name + "\n"
	if err := os.WriteFile(filepath.Join(directory, version, "checksums.txt"), []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	return directory
}

// pack writes an archive with kcp in it.
func pack(t *testing.T, w io.Writer) {
	t.Helper()
	program, err := os.ReadFile(programs.Path(t, "kcp"))
	if err != nil {
		t.Fatal(err)
	}
	zipped, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	files := tar.NewWriter(zipped)
	if err := files.WriteHeader(&tar.Header{Name: "bin/kcp", Mode: 0o755, Size: int64(len(program)), Typeflag: tar.TypeReg}); err != nil {
		t.Fatal(err)
	}
	if _, err := files.Write(program); err != nil {
		t.Fatal(err)
	}
	if err := files.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
}

// runner does what a runner of GitHub does, as far as the action needs it.
type runner struct {
	inputs         map[string]string
	temp, releases string
	env            []string
}

// steps runs the steps of an action, one after the other, until one fails.
func (r *runner) steps(t *testing.T, a *action) (out string, err error) {
	t.Helper()
	path, err := filepath.Abs(folder)
	if err != nil {
		t.Fatal(err)
	}
	r.env = append(os.Environ(), "PATH="+programs.Directory(t)+":"+os.Getenv("PATH"), "KUBECONFIG=", "GITHUB_ACTION_PATH="+path,
		"RUNNER_TEMP="+r.temp, "GITHUB_ENV="+filepath.Join(r.temp, "env"), "GITHUB_PATH="+filepath.Join(r.temp, "path"), "KCP_RELEASES="+r.releases)
	for _, s := range a.Runs.Steps {
		if !r.wanted(t, a, s.If) {
			continue
		}
		for name, value := range s.Env {
			r.env = append(r.env, name+"="+r.value(a, value, path))
		}
		more, err := r.bash(s.Run)
		out += more
		if err != nil {
			return out, fmt.Errorf("%s: %w", s.Name, err)
		}
		r.take(t)
	}
	return out, nil
}

// wanted says what the condition of a step comes to, of those that ours have.
func (r *runner) wanted(t *testing.T, a *action, condition string) bool {
	t.Helper()
	switch condition {
	case "":
		return true
	case "inputs.run != ''":
		return r.input(a, "run") != ""
	case "inputs.detach == 'true'":
		return r.input(a, "detach") == "true"
	}
	t.Fatalf("nobody knows what %q comes to", condition)
	return false
}

func (r *runner) input(a *action, name string) string {
	if value, given := r.inputs[name]; given {
		return value
	}
	return a.Inputs[name].Default
}

func (r *runner) value(a *action, text, path string) string {
	for name := range a.Inputs {
		text = strings.ReplaceAll(text, "${{ inputs."+name+" }}", r.input(a, name))
	}
	return strings.ReplaceAll(text, "${{ github.action_path }}", path)
}

// take gives later steps what this one has said that they are to have.
func (r *runner) take(t *testing.T) {
	t.Helper()
	path, err := os.ReadFile(filepath.Join(r.temp, "path"))
	if err != nil {
		t.Fatal(err)
	}
	env, _ := os.ReadFile(filepath.Join(r.temp, "env"))
	r.env = append(r.env, strings.Split(strings.TrimSpace(string(env)), "\n")...)
	for i, v := range r.env {
		if before, ok := strings.CutPrefix(v, "PATH="); ok {
			r.env[i] = "PATH=" + strings.TrimSpace(string(path)) + ":" + before
		}
	}
}

// bash runs a script as a step, and returns what it prints.
func (r *runner) bash(script string) (string, error) {
	cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script)
	cmd.Env = r.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}
