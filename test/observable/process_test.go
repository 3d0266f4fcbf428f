package observable

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/forkless/kcp/internal/servertest"
)

// TestKubeconfig: what the kubeconfig offers.
func TestKubeconfig(t *testing.T) {
	for flag, want := range map[string][]string{
		"--batteries-included=+user":                 {"base", "root", "shard-base", "system:admin", "user"},
		"--batteries-included=workspace-types,admin": {"base", "root", "shard-base", "system:admin"},
		"--batteries-included=admin":                 {"base", "root", "shard-base", "system:admin"},
	} {
		t.Run(flag, func(t *testing.T) {
			config := load(t, servertest.Start(t, flag).Kubeconfig)
			var contexts []string
			for name := range config.Contexts {
				contexts = append(contexts, name)
			}
			slices.Sort(contexts)
			if !slices.Equal(want, contexts) {
				t.Errorf("contexts: want %v, got %v", want, contexts)
			}
			equal(t, "current context", "root", config.CurrentContext)
		})
	}
}

// TestWithoutAdmin: without the battery there is no kubeconfig.
func TestWithoutAdmin(t *testing.T) {
	s := &suite{servertest.Start(t, "--batteries-included=-admin", servertest.WithUsers(t))}
	if _, err := os.Stat(s.Kubeconfig); !os.IsNotExist(err) {
		t.Errorf("there is a kubeconfig: %v", err)
	}
}

// TestBattery: without the battery of workspace types everything is universal.
func TestBattery(t *testing.T) {
	s := &suite{servertest.Start(t, "--batteries-included=admin")}
	in := s.in(t, admin, "root")
	created := in.must(t, in.create(t, workspace("ws", "{}")))
	equal(t, "default type below root", "universal", text(created, "spec", "type", "name"))
}

// TestRestart: what outlives a process, and leaves no trace that is not wanted.
func TestRestart(t *testing.T) {
	root := t.TempDir()
	first := &suite{servertest.StartIn(t, root)}
	before := load(t, first.Kubeconfig)
	ws := first.Workspace(t, "root", "kept")
	gone := first.Workspace(t, "root", "gone")
	in := first.in(t, admin, "root:kept")
	in.must(t, in.create(t, definition("Widget", "widgets", "Namespaced", "size: {type: integer}")))
	in.eventuallyCreated(t, "{kind: Widget, metadata: {name: w}, spec: {size: 3}}")
	in.must(t, in.create(t, "{kind: ConfigMap, metadata: {name: c}, data: {a: b}}"))
	other := first.in(t, admin, "root:gone")
	other.must(t, other.create(t, definition("Widget", "widgets", "Namespaced", "size: {type: integer}")))
	other.eventuallyCreated(t, "{kind: Widget, metadata: {name: w}, spec: {size: 3}}")
	inRoot := first.in(t, admin, "root")
	inRoot.must(t, inRoot.delete(t, "Workspace", "gone"))
	inRoot.gone(t, "Workspace", "gone")
	first.Stop()

	t.Run("Objects", func(t *testing.T) {
		second := &suite{servertest.StartIn(t, root)}
		after := load(t, second.Kubeconfig)
		equal(t, "credential of shard-admin", before.AuthInfos["shard-admin"].Token, after.AuthInfos["shard-admin"].Token)
		if before.AuthInfos["kcp-admin"].Token == after.AuthInfos["kcp-admin"].Token {
			t.Error("the token of kcp-admin is good for one run")
		}
		in := second.in(t, admin, "root:kept")
		equal(t, "custom object", "3", text(in.must(t, in.get(t, "Widget", "w")), "spec", "size"))
		equal(t, "object", "b", text(in.must(t, in.get(t, "ConfigMap", "c")), "data", "a"))
		in.must(t, in.create(t, "{kind: Widget, metadata: {name: later}, spec: {size: 4}}"))
		second.Stop()
	})

	t.Run("Keys", func(t *testing.T) {
		etcd := servertest.OpenEtcd(t, filepath.Join(root, "etcd-server"))
		for cluster, want := range map[string]bool{ws.Spec.Cluster: true, gone.Spec.Cluster: false} {
			keys, err := etcd.Keys("/" + cluster + "/")
			if err != nil {
				t.Fatal(err)
			}
			if want != (len(keys) > 0) {
				t.Errorf("keys of cluster %s: want some: %t, got %v", cluster, want, keys)
			}
		}
	})
}

func load(t *testing.T, file string) *api.Config {
	t.Helper()
	config, err := clientcmd.LoadFromFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return config
}
