package ephemeral

import (
	"fmt"
	"os"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/forkless/kcp/internal/authn/admin"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// contextName is the name of the context for the command, and of its cluster.
const contextName = "run"

// kubeconfigFor returns the admin kubeconfig with the workspace as the current one, and a
// context for each user in it.
func kubeconfigFor(ofAdmin *api.Config, workspace logicalcluster.Path, users []user) (*api.Config, error) {
	base := ofAdmin.Clusters[admin.BaseContext]
	if base == nil || ofAdmin.AuthInfos[admin.AdminUser] == nil {
		return nil, fmt.Errorf("the admin kubeconfig has no cluster %q or no user %q: kcp run needs the battery admin", admin.BaseContext, admin.AdminUser)
	}
	config := ofAdmin.DeepCopy()
	cluster := base.DeepCopy()
	cluster.Server += "/clusters/" + workspace.String()
	config.Clusters[contextName] = cluster
	config.Contexts[contextName] = &api.Context{Cluster: contextName, AuthInfo: admin.AdminUser}
	config.CurrentContext = contextName
	for _, u := range users {
		config.AuthInfos[u.name] = &api.AuthInfo{Token: u.token}
		config.Contexts[u.name] = &api.Context{Cluster: contextName, AuthInfo: u.name}
	}
	return config, nil
}

// writeKubeconfig writes what kubeconfigFor makes of the admin kubeconfig, and returns the
// configuration of a client of the workspace.
func writeKubeconfig(file, adminFile string, workspace logicalcluster.Path, users []user) (*rest.Config, error) {
	ofAdmin, err := clientcmd.LoadFromFile(adminFile)
	if err != nil {
		return nil, err
	}
	config, err := kubeconfigFor(ofAdmin, workspace, users)
	if err != nil {
		return nil, err
	}
	content, err := clientcmd.Write(*config)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(file, content, 0o600); err != nil {
		return nil, err
	}
	return clientcmd.NewDefaultClientConfig(*config, nil).ClientConfig()
}
