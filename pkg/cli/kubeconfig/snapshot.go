package kubeconfig

import (
	"cmp"
	"fmt"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/forkless/kcp/pkg/cli/ws/path"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Place is where a context leads to.
type Place struct {
	// Server is the URL as it stands in the kubeconfig or on the command line.
	Server string
	// Base is the URL of the server without the workspace.
	Base string
	// Path is the workspace, zero if the server's URL names none.
	Path logicalcluster.Path
}

// InWorkspace says whether p is a workspace, and not just some server.
func (p Place) InWorkspace() bool { return !p.Path.Empty() }

// At returns the URL of the workspace target on the same server.
func (p Place) At(target logicalcluster.Path) string { return path.JoinURL(p.Base, target) }

func placeOf(server string) Place {
	base, p, _ := path.SplitURL(server)
	return Place{Server: server, Base: base, Path: p}
}

// Snapshot is the kubeconfig at one moment, together with the flags of the call.
type Snapshot struct {
	config    *api.Config
	overrides clientcmd.ConfigOverrides
	access    clientcmd.ConfigAccess
	// unattended says that nobody is there to be asked.
	unattended bool
}

// Context returns the name of the context that counts: the one a flag names, or the
// current one of the file. It is empty if there is none.
func (s *Snapshot) Context() string {
	if s.overrides.CurrentContext != "" {
		return s.overrides.CurrentContext
	}
	return s.config.CurrentContext
}

// Place returns where the context leads to, flags considered. Unlike RESTConfig it
// looks at nothing else: a certificate that is missing does not matter to somebody
// who asks where they are.
func (s *Snapshot) Place() (Place, error) {
	server, err := s.server()
	if err != nil {
		return Place{}, err
	}
	return placeOf(server), nil
}

func (s *Snapshot) server() (string, error) {
	clusterName := s.overrides.Context.Cluster
	if name := s.Context(); name != "" {
		context := s.config.Contexts[name]
		if context == nil {
			return "", errNoContext(name)
		}
		clusterName = cmp.Or(clusterName, context.Cluster)
	}
	if server := s.overrides.ClusterInfo.Server; server != "" {
		return server, nil
	}
	switch {
	case clusterName != "":
		if cluster := s.config.Clusters[clusterName]; cluster != nil {
			return cluster.Server, nil
		}
		return "", fmt.Errorf("cluster %q does not exist in the kubeconfig", clusterName)
	case api.IsConfigEmpty(s.config):
		return "", clientcmd.NewEmptyConfigError("no configuration has been provided")
	default:
		return "", noCurrent(s.config)
	}
}

// Previous returns where "-" leads to.
func (s *Snapshot) Previous() (Place, error) {
	if s.config.Contexts[previousName] == nil {
		return Place{}, errNoPrevious
	}
	cluster, err := clusterOf(s.config, previousName)
	if err != nil {
		return Place{}, err
	}
	return placeOf(cluster.Server), nil
}

// RESTConfig returns how to talk to the place that the context leads to.
func (s *Snapshot) RESTConfig() (*rest.Config, error) {
	config, err := s.clientConfig().ClientConfig()
	if err == nil && s.unattended && config.ExecProvider != nil {
		config.ExecProvider.StdinUnavailable = true
		config.ExecProvider.StdinUnavailableMessage = "nobody is there to be asked"
	}
	return config, err
}

// clientConfig has no fallback to the credentials of a pod: a command that edits a
// kubeconfig needs one.
func (s *Snapshot) clientConfig() clientcmd.OverridingClientConfig {
	return clientcmd.NewNonInteractiveClientConfig(*s.config, "", &s.overrides, s.access)
}

// clusterOf returns the cluster that the context called name uses.
func clusterOf(config *api.Config, name string) (*api.Cluster, error) {
	context := config.Contexts[name]
	if context == nil {
		return nil, errNoContext(name)
	}
	cluster := config.Clusters[context.Cluster]
	if cluster == nil {
		return nil, fmt.Errorf("context %q uses cluster %q, which does not exist in the kubeconfig", name, context.Cluster)
	}
	return cluster, nil
}

func errNoContext(name string) error {
	return fmt.Errorf("context %q does not exist in the kubeconfig", name)
}
