package version

import (
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRead(t *testing.T) {
	platform := runtime.GOOS + "/" + runtime.GOARCH
	dependencies := []*debug.Module{{Path: "k8s.io/api", Version: "v0.36.3"}, {Path: "k8s.io/kubernetes", Version: "v1.36.3"}}

	for name, tc := range map[string]struct {
		reason     string
		gitVersion string
		gitCommit  string
		build      *debug.BuildInfo
		want       Info
	}{
		"Stamped": {
			reason:     "a release says what the release process wrote into it, whatever Go recorded",
			gitVersion: "v1.36.3+kcp-v0.3.0",
			gitCommit:  "abc",
			build:      &debug.BuildInfo{Main: debug.Module{Version: "v9.9.9"}},
			want:       Info{Version: "v0.3.0", Kubernetes: "1.36.3", Commit: "abc"},
		},
		"GoInstall": {
			reason:     "go install records module versions",
			gitVersion: "v0.0.0-master+$Format:%H$",
			gitCommit:  "$Format:%H$",
			build:      &debug.BuildInfo{Main: debug.Module{Version: "v0.3.0"}, Deps: dependencies},
			want:       Info{Version: "v0.3.0", Kubernetes: "1.36.3"},
		},
		"GoRun": {
			reason:     "a build from a checkout has no version of its own, but a commit",
			gitVersion: "v0.0.0-master+$Format:%H$",
			build: &debug.BuildInfo{
				Main:     debug.Module{Version: "(devel)"},
				Deps:     dependencies,
				Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}},
			},
			want: Info{Version: "v0.0.0", Kubernetes: "1.36.3", Commit: "abc"},
		},
		"Nothing": {
			reason: "without any record there is still a version to compare with",
			want:   Info{Version: "v0.0.0", Kubernetes: kubernetesVersion},
		},
	} {
		t.Run(name, func(t *testing.T) {
			tc.want.Go, tc.want.Platform = runtime.Version(), platform
			got := read(tc.gitVersion, tc.gitCommit, tc.build)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", tc.reason, diff)
			}
		})
	}
}

func TestKubernetesVersionIsThatOfGoMod(t *testing.T) {
	data, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if want := kubernetesModule + " v" + kubernetesVersion + "\n"; !strings.Contains(string(data), want) {
		t.Errorf("go.mod has no line %q: bring kubernetesVersion up to date", want)
	}
}
