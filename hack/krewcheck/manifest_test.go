package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/template"

	"github.com/google/go-cmp/cmp"
)

// repository is the root of it, as seen from here.
const repository = "../.."

// archives returns what a release has for the plugin ws on each system, by name.
func archives(t *testing.T) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for _, system := range allSystems {
		program := "bin/kubectl-ws"
		if strings.HasPrefix(system, "windows") {
			program += ".exe"
		}
		var b bytes.Buffer
		zipped := gzip.NewWriter(&b)
		files := tar.NewWriter(zipped)
		var err error
		for _, name := range []string{program, "LICENSE", "README.md"} {
			err = errors.Join(err, files.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o755}))
		}
		if err = errors.Join(err, files.Close(), zipped.Close()); err != nil {
			t.Fatal(err)
		}
		all["kubectl-ws-plugin_0.1.0_"+strings.ReplaceAll(system, "/", "_")+".tar.gz"] = b.Bytes()
	}
	return all
}

// current returns the templates that goreleaser.yaml makes.
func current(t *testing.T) map[string]string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(repository, goreleaserFile))
	if err != nil {
		t.Fatal(err)
	}
	all, err := templates(content)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestTemplates holds the templates in the repository to what releases are.
func TestTemplates(t *testing.T) {
	all := current(t)
	if diff := cmp.Diff([]string{"create-workspace.yaml.tmpl", "kcp.yaml.tmpl", "ws.yaml.tmpl"}, slices.Sorted(maps.Keys(all))); diff != "" {
		t.Errorf("plugins (-want +got):\n%s", diff)
	}
	committed, err := filepath.Glob(filepath.Join(repository, templatesFolder, "*"+templateSuffix))
	if err != nil {
		t.Fatal(err)
	}
	if len(committed) != len(all) {
		t.Errorf("there are %d templates, not %d: make generate writes them", len(committed), len(all))
	}
	for name, want := range all {
		got, err := os.ReadFile(filepath.Join(repository, templatesFolder, name))
		if err != nil {
			t.Error(err)
			continue
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%s is stale, make generate writes it (-want +got):\n%s", name, diff)
		}
	}
}

// manifestOf returns the manifest of the plugin ws in a release.
func manifestOf(t *testing.T, text string, all map[string][]byte) string {
	t.Helper()
	values := filled{Version: "0.1.0", sums: map[string]string{}}
	for _, system := range allSystems {
		sum := sha256.Sum256(all["kubectl-ws-plugin_0.1.0_"+strings.ReplaceAll(system, "/", "_")+".tar.gz"])
		values.sums[system] = hex.EncodeToString(sum[:])
	}
	var b strings.Builder
	if err := template.Must(template.New("").Parse(text)).Execute(&b, values); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestVerify(t *testing.T) {
	all := archives(t)
	read := func(name string) ([]byte, error) {
		if archive, ok := all[name]; ok {
			return archive, nil
		}
		return nil, fs.ErrNotExist
	}
	described := current(t)["ws.yaml.tmpl"]
	good := manifestOf(t, described, all)
	linux := good[:strings.Index(good, "  - bin: bin/kubectl-ws\n    selector:\n      matchLabels:\n        os: linux\n        arch: arm64")] +
		good[strings.Index(good, "  shortDescription"):]
	cases := map[string]struct {
		reason, file, of, old, new, want string
		systems                          []string
	}{
		"Good":          {reason: "a manifest that fits", file: "ws.yaml"},
		"OneSystem":     {reason: "a release for one system", file: "ws.yaml", of: linux, systems: []string{"linux/amd64"}},
		"Tag":           {reason: "a snapshot has no tag of its own", file: "ws.yaml", old: "/v0.1.0/", new: "/v0.0.9/"},
		"File":          {reason: "krew finds a plugin by the name of the file", file: "kcp.yaml", want: "called"},
		"Version":       {reason: "versions begin with v", file: "ws.yaml", old: "version: v0.1.0", new: "version: 0.1.0", want: "version"},
		"Windows":       {reason: "programs there end with .exe", file: "ws.yaml", old: "bin/kubectl-ws.exe", new: "bin/kubectl-ws", want: "windows/amd64: the program"},
		"Checksum":      {reason: "an archive of another build", file: "ws.yaml", old: "    sha256: ", new: "    sha256: 0", want: "checksum"},
		"Archive":       {reason: "an archive that is not there", file: "ws.yaml", old: "linux_arm64.tar.gz", new: "gone.tar.gz", want: "linux/arm64: file does not exist"},
		"NoPlatform":    {reason: "a platform that is left out", file: "ws.yaml", of: linux, want: "linux/arm64 is missing"},
		"NoDescription": {reason: "krew prints it in lists", file: "ws.yaml", old: "shortDescription: Go from workspace to workspace", new: "shortDescription: ''", want: "description"},
		"Caveats":       {reason: "the template says something else", file: "ws.yaml", old: "add completion.", new: "add nothing.", want: "not what its template says"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.of == "" {
				tc.of = good
			}
			if tc.old != "" && !strings.Contains(tc.of, tc.old) {
				t.Fatalf("there is no %q in the manifest", tc.old)
			}
			if tc.systems == nil {
				tc.systems = allSystems
			}
			err := errors.Join(verify(tc.file, []byte(strings.Replace(tc.of, tc.old, tc.new, 1)), described, tc.systems, read)...)
			switch {
			case tc.want == "" && err != nil:
				t.Errorf("%s: %v", tc.reason, err)
			case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("%s: %v, want something about %q", tc.reason, err, tc.want)
			}
		})
	}
}

func TestHolds(t *testing.T) {
	if err := holds(archives(t)["kubectl-ws-plugin_0.1.0_linux_amd64.tar.gz"], "bin/kcp"); err == nil {
		t.Error("an archive without the program is taken")
	}
}
