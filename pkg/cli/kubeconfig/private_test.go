package kubeconfig

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// mixedFile is a kubeconfig with two servers, and files beside it.
const mixedFile = `apiVersion: v1
kind: Config
current-context: workspace.kcp.io/current
clusters:
- {name: workspace.kcp.io/current, cluster: {server: "https://kcp/clusters/root:a", certificate-authority: ca.crt}}
- {name: other, cluster: {server: "https://kcp/clusters/root:other"}}
- {name: kind, cluster: {server: "https://kind"}}
contexts:
- {name: workspace.kcp.io/current, context: {cluster: workspace.kcp.io/current, user: admin, namespace: ns, extensions: [{name: workspace.kcp.io/history, extension: {serial: 3, visited: ["https://kcp/clusters/root:b", "https://else/clusters/root"]}}]}}
- {name: other, context: {cluster: other, user: somebody}}
- {name: kind, context: {cluster: kind, user: kind}}
users:
- {name: admin, user: {client-certificate: admin.crt, client-key: admin.key}}
- {name: somebody, user: {token: t}}
- {name: kind, user: {token: kind-secret}}
extensions:
- {name: workspace.kcp.io/pins, extension: {prod: "https://kcp/clusters/root:prod", far: "https://else/clusters/root:far"}}
`

func mixed(t *testing.T) *Flags {
	t.Helper()
	dir := writeFiles(t, map[string]string{"config": mixedFile, "ca.crt": "CA", "admin.crt": "CRT", "admin.key": "KEY"})
	return &Flags{Path: filepath.Join(dir, "config")}
}

func TestPrivate(t *testing.T) {
	flags := mixed(t)
	snapshot, err := flags.Load()
	if err != nil {
		t.Fatal(err)
	}
	config, err := snapshot.Private(logicalcluster.MustParsePath("root:x"))
	if err != nil {
		t.Fatal(err)
	}
	content, err := clientcmd.Write(*config)
	if err != nil {
		t.Fatal(err)
	}
	const want = `apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: Q0E=
    server: https://kcp/clusters/root:x
  name: workspace.kcp.io/current
contexts:
- context:
    cluster: workspace.kcp.io/current
    namespace: ns
    user: admin
  name: workspace.kcp.io/current
current-context: workspace.kcp.io/current
kind: Config
users:
- name: admin
  user:
    client-certificate-data: Q1JU
    client-key-data: S0VZ
`
	if diff := cmp.Diff(want, string(content)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestPrivateOfFlags(t *testing.T) {
	flags := mixed(t)
	flags.Overrides.ClusterInfo.Server = "https://third:6443/clusters/root"
	flags.Overrides.AuthInfo.Token = "given"
	flags.Overrides.AuthInfo.Impersonate = "bob"
	snapshot, err := flags.Load()
	if err != nil {
		t.Fatal(err)
	}
	config, err := snapshot.Private(logicalcluster.MustParsePath("root:x"))
	if err != nil {
		t.Fatal(err)
	}
	if got := config.Clusters[currentName].Server; got != "https://third:6443/clusters/root:x" {
		t.Errorf("the server is %s", got)
	}
	user := config.AuthInfos[config.Contexts[currentName].AuthInfo]
	if user.Token != "given" || user.Impersonate != "bob" {
		t.Errorf("the user is %s", user)
	}
}

func TestReduced(t *testing.T) {
	flags := mixed(t)
	snapshot, err := flags.Load()
	if err != nil {
		t.Fatal(err)
	}
	config, err := snapshot.Reduced(logicalcluster.MustParsePath("root:x"))
	if err != nil {
		t.Fatal(err)
	}
	want := state{
		Clusters: map[string]string{currentName: "https://kcp/clusters/root:x", "other": "https://kcp/clusters/root:other"},
		Contexts: map[string]string{currentName: currentName, "other": "other"},
		Current:  currentName,
	}
	if diff := cmp.Diff(want, stateOf(config)); diff != "" {
		t.Errorf("entries of other servers stay away (-want +got)\n%s", diff)
	}
	if config.AuthInfos["kind"] != nil || config.AuthInfos["somebody"] == nil || string(config.AuthInfos["admin"].ClientKeyData) != "KEY" {
		t.Errorf("the users are %v", config.AuthInfos)
	}
	if diff := cmp.Diff([]string{"root:b"}, historyPaths(reload(t, config))); diff != "" {
		t.Errorf("the history of this server comes along (-want +got)\n%s", diff)
	}
	pins := pinsOf(config)
	if len(pins) != 1 || pins[0].Name != "prod" {
		t.Errorf("the pins are %v", pins)
	}
}

func TestWritePrivate(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	file, err := WritePrivate(fresh().config())
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{file.Name: 0o600, filepath.Dir(file.Name): 0o700} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); runtime.GOOS != "windows" && got != want {
			t.Errorf("%s has mode %o, want %o", name, got, want)
		}
	}
	if err := file.Remove(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Dir(file.Name)); !os.IsNotExist(err) {
		t.Errorf("the directory is still there: %v", err)
	}
}
