package admin

import (
	"bytes"
	"maps"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// ours are the names that a battery gives to contexts, clusters and users. What has
// another name belongs to the people who use the kubeconfig.
var ours = map[string]bool{
	RootContext: true, BaseContext: true, SystemAdminContext: true, ShardBaseContext: true,
	ShardAdminUser: true, AdminUser: true, PlainUser: true,
}

// stored returns the kubeconfig of the start before, or an empty one: what cannot be
// read is replaced.
func stored(path string) *clientcmdapi.Config {
	config, err := clientcmd.LoadFromFile(path)
	if err != nil {
		return clientcmdapi.NewConfig()
	}
	return config
}

// move is that of a server from one address to another.
type move struct{ was, now string }

// server returns the URL of something on the server after the move.
func (m move) server(url string) (moved string, ok bool) {
	rest, ok := strings.CutPrefix(url, m.was)
	if m.was == "" || !ok || rest != "" && rest[0] != '/' {
		return url, false
	}
	return m.now + rest, true
}

// extensions moves the addresses in what programs keep beside the entries, such as the
// workspaces that "kubectl ws" remembers.
func (m move) extensions(extensions map[string]runtime.Object) {
	for _, extension := range extensions {
		if kept, ok := extension.(*runtime.Unknown); ok && m.was != "" {
			kept.Raw = bytes.ReplaceAll(kept.Raw, []byte(`"`+m.was+`/`), []byte(`"`+m.now+`/`))
		}
	}
}

// keep takes over into fresh what people have put into the kubeconfig before: their
// entries, where "kubectl ws" has left them, and which context is the current one. Those
// on this server follow it to another address, and trust what it shows now.
func keep(fresh, before *clientcmdapi.Config, ca []byte) {
	m := move{now: fresh.Clusters[BaseContext].Server}
	if base := before.Clusters[BaseContext]; base != nil {
		m.was = strings.TrimSuffix(base.Server, "/")
	}
	keepClusters(fresh, before, m, ca)
	for name, info := range before.AuthInfos {
		if !ours[name] {
			fresh.AuthInfos[name] = info
		}
	}
	keepContexts(fresh, before, m)
	if fresh.Contexts[before.CurrentContext] != nil {
		fresh.CurrentContext = before.CurrentContext
	}
	m.extensions(before.Extensions)
	maps.Copy(fresh.Extensions, before.Extensions)
}

func keepClusters(fresh, before *clientcmdapi.Config, m move, ca []byte) {
	for name, cluster := range before.Clusters {
		if ours[name] {
			continue
		}
		if moved, ok := m.server(cluster.Server); ok {
			cluster.Server, cluster.CertificateAuthorityData, cluster.CertificateAuthority = moved, ca, ""
		}
		fresh.Clusters[name] = cluster
	}
}

func keepContexts(fresh, before *clientcmdapi.Config, m move) {
	for name, context := range before.Contexts {
		m.extensions(context.Extensions)
		// The user of a battery that is switched off now has no credentials any more.
		known := context.AuthInfo == "" || fresh.AuthInfos[context.AuthInfo] != nil
		switch refreshed := fresh.Contexts[name]; {
		case refreshed != nil:
			// A namespace that somebody has set, say.
			refreshed.Namespace, refreshed.Extensions = context.Namespace, context.Extensions
		case known && !ours[name]:
			fresh.Contexts[name] = context
		}
	}
}
