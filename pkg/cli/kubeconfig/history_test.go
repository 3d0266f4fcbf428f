package kubeconfig

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

func historyPaths(config *api.Config) []string {
	var paths []string
	for _, place := range (&Snapshot{config: config}).History() {
		paths = append(paths, place.Path.String())
	}
	return paths
}

// reload writes config to a file and reads it again.
func reload(t *testing.T, config *api.Config) *api.Config {
	t.Helper()
	content, err := clientcmd.Write(*config)
	if err != nil {
		t.Fatal(err)
	}
	config, err = clientcmd.Load(content)
	if err != nil {
		t.Fatal(err)
	}
	return config
}

func TestHistory(t *testing.T) {
	const base = "https://kcp/clusters/"
	go_ := func(paths ...string) func(*testing.T, *api.Config) {
		return func(t *testing.T, config *api.Config) {
			for _, p := range paths {
				if err := Switch(config, config.CurrentContext, base+p); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	back := func(t *testing.T, config *api.Config) {
		if err := SwitchBack(config); err != nil {
			t.Fatal(err)
		}
	}
	cases := map[string]struct {
		reason string
		steps  []func(*testing.T, *api.Config)
		want   []string
	}{
		"Nowhere": {reason: "who has not moved has no history"},
		"Left":    {"what has been left counts, the latest first", []func(*testing.T, *api.Config){go_("root:a", "root:b", "root:c")}, []string{"root:b", "root:a", "root"}},
		"Again":   {"each place is there once, and where one is not at all", []func(*testing.T, *api.Config){go_("root:a", "root:b", "root:a", "root:c", "root:a")}, []string{"root:c", "root:b", "root"}},
		"Stay":    {"who stays leaves nothing", []func(*testing.T, *api.Config){go_("root:a", "root:a")}, []string{"root"}},
		"Back":    {"going back is going, too", []func(*testing.T, *api.Config){go_("root:a", "root:b"), back}, []string{"root:b", "root"}},
		"SwappedByOthers": {
			"other programs let contexts change places, and what is in them goes along",
			[]func(*testing.T, *api.Config){go_("root:a", "root:b"), func(_ *testing.T, config *api.Config) {
				config.Contexts[currentName], config.Contexts[previousName] = config.Contexts[previousName], config.Contexts[currentName]
				config.Clusters[currentName], config.Clusters[previousName] = config.Clusters[previousName], config.Clusters[currentName]
				config.Contexts[currentName].Cluster, config.Contexts[previousName].Cluster = currentName, previousName
			}, go_("root:c")},
			[]string{"root:a", "root:b", "root"},
		},
		"Damaged": {
			"a history that cannot be read is as good as none",
			[]func(*testing.T, *api.Config){go_("root:a"), func(_ *testing.T, config *api.Config) {
				config.Contexts[currentName].Extensions = writeExtension(nil, historyName, "what?")
			}, go_("root:b")},
			[]string{"root:a"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			config := fresh().config()
			for _, step := range tc.steps {
				step(t, config)
				config = reload(t, config)
			}
			got := historyPaths(config)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got)\n%s", tc.reason, diff)
			}
		})
	}
}

func TestHistoryIsBounded(t *testing.T) {
	config := fresh().config()
	for i := range 2 * maxHistory {
		if err := Switch(config, config.CurrentContext, fmt.Sprintf("https://kcp/clusters/root:a%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	if got := historyPaths(config); len(got) != maxHistory || got[0] != fmt.Sprintf("root:a%d", 2*maxHistory-2) {
		t.Errorf("%d places, the first is %s", len(got), got[0])
	}
	if _, err := CreateContext(config, currentName, NewContext{Name: "kept", Server: "https://kcp/clusters/root:a"}); err != nil {
		t.Fatal(err)
	}
	for name, context := range config.Contexts {
		if _, ok := context.Extensions[historyName]; ok != (name == currentName) {
			t.Errorf("context %q has a history: %v", name, ok)
		}
	}
}

// TestPinsInFiles: pins belong to the kubeconfig as a whole, which may be several files.
func TestPinsInFiles(t *testing.T) {
	dir := writeFiles(t, map[string]string{"1-foreign": foreignFile, "2-admin": adminFile + `extensions:
- name: example.com/other
  extension: {a: 1}
- name: workspace.kcp.io/pins
  extension: {prod: "https://kcp/clusters/root:prod"}
`})
	foreign, admin := filepath.Join(dir, "1-foreign"), filepath.Join(dir, "2-admin")
	t.Setenv("KUBECONFIG", foreign+string(os.PathListSeparator)+admin)
	flags := &Flags{}
	set := func(name, p string) {
		t.Helper()
		err := flags.Store().Edit(t.Context(), func(config *api.Config) error {
			SetPin(config, name, "https://kcp", logicalcluster.MustParsePath(p))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	list := func() map[string]string {
		t.Helper()
		snapshot, err := flags.Load()
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, pin := range snapshot.Pins() {
			got[pin.Name] = pin.Server
		}
		return got
	}

	set("dev", "root:dev")
	set("prod", "root:prod2")
	if diff := cmp.Diff(map[string]string{"dev": "https://kcp/clusters/root:dev", "prod": "https://kcp/clusters/root:prod2"}, list()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(foreignFile, read(t, foreign)); diff != "" {
		t.Errorf("pins stay in the file that has them\n%s", diff)
	}
	if content := read(t, admin); !strings.Contains(content, "example.com/other") {
		t.Errorf("the extensions of others are gone:\n%s", content)
	}
	before := read(t, admin)
	set("prod", "root:prod2")
	if read(t, admin) != before {
		t.Error("the file was changed for nothing")
	}

	found := false
	err := flags.Store().Edit(t.Context(), func(config *api.Config) error {
		found = DeletePin(config, "prod") && !DeletePin(config, "nope")
		return nil
	})
	if err != nil || !found {
		t.Errorf("deleting a pin: %v, %v", found, err)
	}
	if diff := cmp.Diff(map[string]string{"dev": "https://kcp/clusters/root:dev"}, list()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
