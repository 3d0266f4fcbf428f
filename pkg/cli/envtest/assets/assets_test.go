package assets

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/forkless/kcp/pkg/cli/run"
)

// layout returns options over a program and a kubectl of the test's own.
func layout(t *testing.T) (*Options, *bytes.Buffer) {
	t.Helper()
	there := t.TempDir()
	for name, content := range map[string]string{"kcp": "the server", "kubectl": "the client"} {
		if err := os.WriteFile(filepath.Join(there, program(name)), []byte(content), 0o700); err != nil { //nolint:gosec // because they are programs
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	return &Options{
		Directory:  filepath.Join(t.TempDir(), "new", "assets"),
		Programs:   []string{"kube-apiserver", "etcd"},
		streams:    run.Streams{Out: &out, ErrOut: &out},
		executable: func() (string, error) { return filepath.Join(there, program("kcp")), nil },
		look:       func(name string) (string, error) { return filepath.Join(there, program(name)), nil },
	}, &out
}

func TestRun(t *testing.T) {
	for name, copied := range map[string]bool{"Links": false, "Copies": true} {
		t.Run(name, func(t *testing.T) {
			o, out := layout(t)
			o.Copy = copied
			// The second time there is something already, of ours.
			for range 2 {
				out.Reset()
				if err := o.Run(); err != nil {
					t.Fatal(err)
				}
			}
			if got := out.String(); got != o.Directory+"\n" {
				t.Errorf("printed %q, which is no value for KUBEBUILDER_ASSETS", got)
			}
			for program, want := range map[string]string{"kube-apiserver": "the server", "etcd": "the server", "kubectl": "the client"} {
				if got, err := os.ReadFile(filepath.Join(o.Directory, program)); err != nil || string(got) != want {
					t.Errorf("%s is %q, %v", program, got, err)
				}
			}
		})
	}
}

// TestKubectl: what came with kcp is of its version, which what is installed may not be.
func TestKubectl(t *testing.T) {
	for name, folder := range map[string]string{"Archive": "libexec/kcp", "Make": "bin/libexec"} {
		t.Run(name, func(t *testing.T) {
			o, _ := layout(t)
			root := t.TempDir()
			for at, content := range map[string]string{"bin/kcp": "the server", folder + "/kubectl": "of the same version"} {
				file := filepath.Join(root, filepath.FromSlash(filepath.Dir(at)), program(filepath.Base(at)))
				if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(content), 0o700); err != nil { //nolint:gosec // because they are programs
					t.Fatal(err)
				}
			}
			link := filepath.Join(t.TempDir(), program("kcp"))
			if err := os.Symlink(filepath.Join(root, "bin", program("kcp")), link); err != nil {
				t.Skipf("no links here: %v", err)
			}
			o.executable = func() (string, error) { return link, nil }
			for kubectl, want := range map[string]string{"": "of the same version", "kubectl": "the client"} {
				o.Kubectl = kubectl
				if err := o.Run(); err != nil {
					t.Fatal(err)
				}
				if got, err := os.ReadFile(filepath.Join(o.Directory, program("kubectl"))); err != nil || string(got) != want {
					t.Errorf("--kubectl=%s: kubectl is %q, %v, want %q", kubectl, got, err, want)
				}
			}
		})
	}
}

func TestRunFails(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		spoil  func(*testing.T, *Options)
		want   string
	}{
		"NoKubectl": {
			"without a kubectl, people are told how to come by one",
			func(_ *testing.T, o *Options) {
				o.look = func(string) (string, error) { return "", errors.New("not found") }
			},
			"no kubectl to link to",
		},
		"Foreign": {
			"the programs of Kubernetes took a while to download",
			func(t *testing.T, o *Options) {
				if err := os.MkdirAll(o.Directory, 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(o.Directory, program("etcd")), []byte("the real one"), 0o600); err != nil {
					t.Fatal(err)
				}
			},
			"not from here",
		},
		"NoDirectory": {
			"a file is in the way",
			func(t *testing.T, o *Options) {
				file := filepath.Join(t.TempDir(), "file")
				if err := os.WriteFile(file, nil, 0o600); err != nil {
					t.Fatal(err)
				}
				o.Directory = filepath.Join(file, "assets")
			},
			"making the directory",
		},
	} {
		t.Run(name, func(t *testing.T) {
			o, out := layout(t)
			tc.spoil(t, o)
			if err := o.Run(); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: got %v", tc.reason, err)
			}
			if out.Len() > 0 {
				t.Errorf("%s: printed %q all the same", tc.reason, out)
			}
		})
	}
}
