package admin

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// switched is what people have done to the kubeconfig: "kubectl ws" from a cluster of
// another server to a workspace of this one, and a context of their own.
func switched(config *clientcmdapi.Config) {
	cluster := func(server, ca string) *clientcmdapi.Cluster {
		return &clientcmdapi.Cluster{Server: server, CertificateAuthorityData: []byte(ca)}
	}
	config.Clusters["workspace.kcp.io/current"] = cluster(baseURL+"/clusters/root:org", "ca")
	config.Clusters["kind"] = cluster("https://127.0.0.1:64430/clusters/root", "kind")
	config.AuthInfos["kind"] = &clientcmdapi.AuthInfo{Token: "kind"}
	config.Contexts["workspace.kcp.io/current"] = &clientcmdapi.Context{Cluster: "workspace.kcp.io/current", AuthInfo: AdminUser, Namespace: "team"}
	config.Contexts["workspace.kcp.io/previous"] = &clientcmdapi.Context{Cluster: "kind", AuthInfo: "kind"}
	config.Contexts["plain"] = &clientcmdapi.Context{Cluster: "root", AuthInfo: PlainUser}
	config.Contexts["workspace.kcp.io/current"].Extensions = map[string]runtime.Object{
		"workspace.kcp.io/history": &runtime.Unknown{ContentType: runtime.ContentTypeJSON, Raw: []byte(`{"visited":["` + baseURL + `/clusters/root","https://127.0.0.1:64430/clusters/root"]}`)},
	}
	config.CurrentContext = "workspace.kcp.io/current"
}

func TestRestartKeepsWherePeopleAre(t *testing.T) {
	files := newFiles(t)
	_, first := start(t, files, true)
	switched(first)
	if err := clientcmd.WriteToFile(*first, files.Kubeconfig); err != nil {
		t.Fatal(err)
	}

	b, err := Prepare(files, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Write("https://127.0.0.1:7443", []byte("new ca")); err != nil {
		t.Fatal(err)
	}
	second, err := clientcmd.LoadFromFile(files.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	type entry struct{ Server, CA, User, Namespace string }
	got := map[string]entry{}
	for name, c := range second.Contexts {
		server := second.Clusters[c.Cluster]
		got[name] = entry{server.Server, string(server.CertificateAuthorityData), c.AuthInfo, c.Namespace}
	}
	want := map[string]entry{
		"root":                      {"https://127.0.0.1:7443/clusters/root", "new ca", AdminUser, ""},
		"base":                      {"https://127.0.0.1:7443", "new ca", AdminUser, ""},
		"system:admin":              {"https://127.0.0.1:7443/clusters/system:admin", "new ca", ShardAdminUser, ""},
		"shard-base":                {"https://127.0.0.1:7443", "new ca", ShardAdminUser, ""},
		"workspace.kcp.io/current":  {"https://127.0.0.1:7443/clusters/root:org", "new ca", AdminUser, "team"},
		"workspace.kcp.io/previous": {"https://127.0.0.1:64430/clusters/root", "kind", "kind", ""},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("a restart leaves people where they are, with what works now (-want +got):\n%s", diff)
	}
	if second.CurrentContext != "workspace.kcp.io/current" {
		t.Errorf("the current context is %q", second.CurrentContext)
	}
	history := second.Contexts["workspace.kcp.io/current"].Extensions["workspace.kcp.io/history"].(*runtime.Unknown)
	if want := `{"visited":["https://127.0.0.1:7443/clusters/root","https://127.0.0.1:64430/clusters/root"]}`; string(history.Raw) != want {
		t.Errorf("the history is %s, want %s", history.Raw, want)
	}
	if second.AuthInfos["kind"].Token != "kind" || second.AuthInfos[AdminUser].Token == first.AuthInfos[AdminUser].Token {
		t.Error("users of others stay, ours have new tokens")
	}
}

func TestRestartWithoutTheCurrentUser(t *testing.T) {
	files := newFiles(t)
	_, first := start(t, files, true)
	first.CurrentContext = PlainUser
	if err := clientcmd.WriteToFile(*first, files.Kubeconfig); err != nil {
		t.Fatal(err)
	}
	if _, second := start(t, files, true); second.CurrentContext != PlainUser {
		t.Errorf("the current context stays, not %q", second.CurrentContext)
	}
	if _, third := start(t, files, false); third.CurrentContext != RootContext {
		t.Errorf("without that user people begin in root, not in %q", third.CurrentContext)
	}
}
