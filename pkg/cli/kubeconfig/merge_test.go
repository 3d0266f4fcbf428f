package kubeconfig

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

const demo = "/home/adam/demo/.kcp"

func merged(name, root string) Merged {
	return Merged{
		Name: name, RootDirectory: root,
		Cluster: &api.Cluster{Server: "https://127.0.0.1:6443/clusters/root"}, User: &api.AuthInfo{Token: "token"},
	}
}

func nothingRuns(string) bool { return false }

// foreign is a kubeconfig with a cluster of somebody else.
func foreign(name string) *api.Config {
	config := api.NewConfig()
	config.Clusters[name] = &api.Cluster{Server: "https://kind"}
	config.AuthInfos[name] = &api.AuthInfo{Token: "kind"}
	config.Contexts[name] = &api.Context{Cluster: name, AuthInfo: name}
	config.CurrentContext = name
	return config
}

func names(config *api.Config) []string {
	s := &Snapshot{config: config}
	all := append(s.Contexts(), s.Clusters()...)
	return append(append(all, s.Users()...), config.CurrentContext)
}

func TestMergeComesAndGoes(t *testing.T) {
	for name, tc := range map[string]struct {
		reason        string
		before        *api.Config
		during, after []string
	}{
		"Empty": {
			"the only context is the current one",
			api.NewConfig(), []string{"kcp", "kcp", "kcp", "kcp"}, []string{""},
		},
		"Others": {
			"people stay where they are",
			foreign("kind"), []string{"kcp", "kind", "kcp", "kind", "kcp", "kind", "kind"}, []string{"kind", "kind", "kind", "kind"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if err := Merge(tc.before, merged("kcp", demo), nothingRuns); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.during, names(tc.before)); diff != "" {
				t.Errorf("%s: while it runs (-want +got)\n%s", tc.reason, diff)
			}
			removed := Unmerge(tc.before, func(root string) bool { return root == demo })
			if diff := cmp.Diff([]string{"kcp"}, removed); diff != "" {
				t.Errorf("%s: removed (-want +got)\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.after, names(tc.before)); diff != "" {
				t.Errorf("%s: when it has gone (-want +got)\n%s", tc.reason, diff)
			}
		})
	}
}

// TestUnmergeTakesWhatWasMadeOfIt: a workspace that was switched to, with the credentials of
// the server, goes with it; that of another server stays.
func TestUnmergeTakesWhatWasMadeOfIt(t *testing.T) {
	config := foreign("kind")
	if err := Merge(config, merged("kcp", demo), nothingRuns); err != nil {
		t.Fatal(err)
	}
	config.CurrentContext = "kcp"
	if err := Switch(config, "kcp", "https://127.0.0.1:6443/clusters/root:org"); err != nil {
		t.Fatal(err)
	}
	if _, err := CreateContext(config, currentName, NewContext{Name: "org", Server: "https://127.0.0.1:6443/clusters/root:org", KeepCurrent: true}); err != nil {
		t.Fatal(err)
	}
	Unmerge(config, func(root string) bool { return root == demo })
	if diff := cmp.Diff([]string{"kind", "kind", "kind", ""}, names(config)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestCheckMerge(t *testing.T) {
	ours := func(root string) *api.Config {
		config := api.NewConfig()
		if err := Merge(config, merged("kcp", root), nothingRuns); err != nil {
			t.Fatal(err)
		}
		return config
	}
	onlyUser := api.NewConfig()
	onlyUser.AuthInfos["kcp"] = &api.AuthInfo{}
	for name, tc := range map[string]struct {
		reason string
		config *api.Config
		runs   bool
		want   error
	}{
		"Free":    {"nobody has the name", foreign("kind"), true, nil},
		"Foreign": {"somebody made it", foreign("kcp"), false, &TakenError{Name: "kcp"}},
		"User":    {"credentials are not written over", onlyUser, false, &TakenError{Name: "kcp"}},
		"Again":   {"it was killed, and starts again", ours(demo), true, nil},
		"Running": {"another server is used by it", ours("/other"), true, &TakenError{Name: "kcp", RootDirectory: "/other"}},
		"Gone":    {"the other server is not there any more", ours("/other"), false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			err := CheckMerge(tc.config, "kcp", demo, func(string) bool { return tc.runs })
			var taken *TakenError
			errors.As(err, &taken)
			if (err == nil) != (tc.want == nil) || tc.want != nil && err.Error() != tc.want.Error() {
				t.Errorf("%s: got %v, want %v", tc.reason, err, tc.want)
			}
		})
	}
}

// TestMergeFiles: what was merged is written to a file that need not be there, and taken out
// of it again.
func TestMergeFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), ".kube", "config")
	t.Setenv("KUBECONFIG", file)
	store := (&Flags{}).Store()
	if err := store.Create(t.Context(), func(config *api.Config) error { return Merge(config, merged("kcp", demo), nothingRuns) }); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info.Mode(), err)
	}
	snapshot, err := (&Flags{}).Load()
	if err != nil {
		t.Fatal(err)
	}
	if !snapshot.HasMerged() || serverOf(snapshot.config, snapshot.config.Contexts["kcp"]) != "https://127.0.0.1:6443/clusters/root" {
		t.Errorf("the file has %v", names(snapshot.config))
	}
	err = store.Edit(t.Context(), func(config *api.Config) error {
		Unmerge(config, func(string) bool { return true })
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.LoadFromFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{""}, names(config)); diff != "" {
		t.Errorf("what is left in the file (-want +got)\n%s", diff)
	}
}
