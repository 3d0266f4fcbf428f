package plugins

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/forkless/kcp/pkg/cli/kubeconfig"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

const (
	currentEntry  = "workspace.kcp.io/current"
	previousEntry = "workspace.kcp.io/previous"
)

// theirs is the plugin of the original, as far as the kubeconfig is concerned: it reads
// and writes it by client-go, and knows nothing of what we keep there beside.
type theirs struct{ file string }

func (o theirs) edit(t *testing.T, change func(*api.Config)) {
	t.Helper()
	options := clientcmd.NewDefaultPathOptions()
	options.LoadingRules.ExplicitPath = o.file
	config, err := options.GetStartingConfig()
	if err != nil {
		t.Fatal(err)
	}
	change(config)
	if err := clientcmd.ModifyConfig(options, *config, true); err != nil {
		t.Fatal(err)
	}
}

// use switches to a workspace.
func (o theirs) use(t *testing.T, path string) {
	t.Helper()
	o.edit(t, func(config *api.Config) {
		context := config.Contexts[config.CurrentContext]
		cluster := config.Clusters[context.Cluster]
		before := context.DeepCopy()
		if before.Cluster == currentEntry {
			config.Clusters[previousEntry] = cluster.DeepCopy()
			before.Cluster = previousEntry
		}
		now, target := context.DeepCopy(), cluster.DeepCopy()
		now.Cluster = currentEntry
		base, _, _ := strings.Cut(cluster.Server, "/clusters/")
		target.Server = base + "/clusters/" + path
		config.Clusters[currentEntry], config.Contexts[currentEntry], config.Contexts[previousEntry] = target, now, before
		config.CurrentContext = currentEntry
	})
}

// back switches to the previous workspace.
func (o theirs) back(t *testing.T) {
	t.Helper()
	o.edit(t, func(config *api.Config) {
		now, before := config.Contexts[previousEntry].DeepCopy(), config.Contexts[currentEntry].DeepCopy()
		nowCluster, beforeCluster := config.Clusters[previousEntry], config.Clusters[currentEntry]
		if now.Cluster == previousEntry {
			now.Cluster = currentEntry
			config.Clusters[currentEntry] = nowCluster
		}
		if before.Cluster == currentEntry {
			before.Cluster = previousEntry
			config.Clusters[previousEntry] = beforeCluster
		}
		config.Contexts[currentEntry], config.Contexts[previousEntry] = now, before
		config.CurrentContext = currentEntry
	})
}

// TestSharedKubeconfig goes through a tree with the original's plugin and ours by turns,
// and sees that each finds what the other has left, and nothing else has changed.
func TestSharedKubeconfig(t *testing.T) {
	s := newServed(t)
	on := surfaces[0]
	on.use(t)
	path := s.workspace(t)
	// Both go through the same steps, once by turns and once with the original alone.
	shared, alone := s.login(t, s.URL(), path, nil), s.login(t, s.URL(), path, nil)
	ours := func(t *testing.T, line string) {
		t.Helper()
		t.Setenv("KUBECONFIG", shared)
		if r := s.run(t, on, line); r.code != 0 {
			t.Fatalf("$ kubectl %s\n%s", line, r.all())
		}
	}
	here, err := logicalcluster.ParsePath(path)
	if err != nil {
		t.Fatal(err)
	}
	flags := &kubeconfig.Flags{Path: shared}
	err = flags.Store().Edit(t.Context(), func(config *api.Config) error {
		kubeconfig.SetPin(config, "here", s.URL(), here)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	steps := []struct {
		name   string
		mine   string
		theirs func(*testing.T, theirs)
	}{
		{"down", "", func(t *testing.T, o theirs) { o.use(t, path+":child") }},
		{"up", "ws ..", func(t *testing.T, o theirs) { o.use(t, path) }},
		{"back", "", func(t *testing.T, o theirs) { o.back(t) }},
		{"back again", "ws -", func(t *testing.T, o theirs) { o.back(t) }},
		{"to the top", "ws :root", func(t *testing.T, o theirs) { o.use(t, "root") }},
		{"down from there", "", func(t *testing.T, o theirs) { o.use(t, path) }},
		{"back to the top", "ws -", func(t *testing.T, o theirs) { o.back(t) }},
		{"and down", "", func(t *testing.T, o theirs) { o.back(t) }},
	}
	for i, step := range steps {
		if step.mine != "" {
			ours(t, step.mine)
		} else {
			step.theirs(t, theirs{shared})
		}
		step.theirs(t, theirs{alone})
		if d := cmp.Diff(entries(t, alone), entries(t, shared)); d != "" {
			t.Fatalf("step %d, %s: what the original would have left (-want +got):\n%s", i, step.name, d)
		}
	}
	// Who goes on with our plugin alone finds pins and history.
	t.Setenv("KUBECONFIG", shared)
	if r := s.run(t, on, "ws @here --short"); r.stdout != path+"\n" {
		t.Errorf("the pin has not survived:\n%s", r.all())
	}
	snapshot, err := flags.Load()
	if err != nil {
		t.Fatal(err)
	}
	var visited []string
	for _, place := range snapshot.History() {
		visited = append(visited, place.Path.String())
	}
	if !slices.Contains(visited, "root") || !slices.Contains(visited, path+":child") {
		t.Errorf("the history has not survived, it is %q", visited)
	}
}

// entries returns what is in a kubeconfig but for what only our plugin knows.
func entries(t *testing.T, file string) map[string]string {
	t.Helper()
	config, err := clientcmd.LoadFromFile(file)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{"current": config.CurrentContext}
	foreign := func(extensions map[string]runtime.Object) (names []string) {
		for name := range extensions {
			if !strings.HasPrefix(name, "workspace.kcp.io/") {
				names = append(names, name)
			}
		}
		return names
	}
	for name, c := range config.Contexts {
		all["context "+name] = fmt.Sprint(c.Cluster, c.AuthInfo, c.Namespace, foreign(c.Extensions))
	}
	for name, c := range config.Clusters {
		all["cluster "+name] = fmt.Sprint(c.Server, string(c.CertificateAuthorityData), foreign(c.Extensions))
	}
	for name, u := range config.AuthInfos {
		all["user "+name] = fmt.Sprint(u.Token, foreign(u.Extensions))
	}
	return all
}

// TestKubeconfigOfTheOriginal takes over a kubeconfig that the original's plugin has
// left, written down by hand.
func TestKubeconfigOfTheOriginal(t *testing.T) {
	const left = `apiVersion: v1
kind: Config
clusters:
- cluster: {certificate-authority: /etc/ca.crt, server: "https://kcp/clusters/root:org:team"}
  name: workspace.kcp.io/current
- cluster: {certificate-authority: /etc/ca.crt, server: "https://kcp/clusters/root:org"}
  name: workspace.kcp.io/previous
- cluster: {server: "https://kind:6443"}
  name: kind
contexts:
- context: {cluster: workspace.kcp.io/current, user: admin, namespace: ns}
  name: workspace.kcp.io/current
- context: {cluster: workspace.kcp.io/previous, user: admin, namespace: ns}
  name: workspace.kcp.io/previous
- context: {cluster: kind, user: kind}
  name: kind
current-context: workspace.kcp.io/current
users:
- {name: admin, user: {token: a}}
- {name: kind, user: {token: k}}
`
	on := surfaces[0]
	on.use(t)
	file := useKubeconfig(t, "")
	editFile(t, file, readFile(t, file), left)
	before := entries(t, file)
	s := &served{}
	if r := s.run(t, on, "ws ."); r.stdout != "Current workspace is 'root:org:team'.\n" {
		t.Errorf("it says\n%s", r.all())
	}
	if r := s.run(t, on, "ws create-context kept"); r.stdout != "Created context \"kept\" and switched to it.\n" {
		t.Errorf("it says\n%s", r.all())
	}
	want := map[string]string{
		"current":      "kept",
		"context kept": strings.Replace(before["context "+currentEntry], currentEntry, "kept", 1),
		"cluster kept": before["cluster "+currentEntry],
	}
	for name, entry := range before {
		if _, ok := want[name]; !ok {
			want[name] = entry
		}
	}
	if d := cmp.Diff(want, entries(t, file)); d != "" {
		t.Errorf("a context of one's own, and nothing else (-want +got):\n%s", d)
	}
}
