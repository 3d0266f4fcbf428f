package admin

import (
	"maps"
	"strings"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// ours are the names that a battery gives to contexts, clusters and users. What has
// another name belongs to the people who use the kubeconfig.
var ours = map[string]bool{
	rootContext: true, baseContext: true, systemAdminContext: true, shardBaseContext: true,
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

// keep takes over into fresh what people have put into the kubeconfig before: their
// entries, where "kubectl ws" has left them, and which context is the current one. Those
// on this server follow it to another address, and trust what it shows now.
func keep(fresh, before *clientcmdapi.Config, ca []byte) {
	was, now := "", fresh.Clusters[baseContext].Server
	if base := before.Clusters[baseContext]; base != nil {
		was = strings.TrimSuffix(base.Server, "/")
	}
	for name, cluster := range before.Clusters {
		if ours[name] {
			continue
		}
		if rest, ok := strings.CutPrefix(cluster.Server, was); ok && was != "" && (rest == "" || rest[0] == '/') {
			cluster.Server, cluster.CertificateAuthorityData, cluster.CertificateAuthority = now+rest, ca, ""
		}
		fresh.Clusters[name] = cluster
	}
	for name, info := range before.AuthInfos {
		if !ours[name] {
			fresh.AuthInfos[name] = info
		}
	}
	for name, context := range before.Contexts {
		// The user of a battery that is switched off now has no credentials any more.
		if known := fresh.AuthInfos[context.AuthInfo] != nil || context.AuthInfo == ""; !ours[name] && known {
			fresh.Contexts[name] = context
		}
	}
	// A namespace that somebody has set, say.
	for name, context := range fresh.Contexts {
		if old := before.Contexts[name]; old != nil && ours[name] {
			context.Namespace, context.Extensions = old.Namespace, old.Extensions
		}
	}
	if fresh.Contexts[before.CurrentContext] != nil {
		fresh.CurrentContext = before.CurrentContext
	}
	maps.Copy(fresh.Extensions, before.Extensions)
}
