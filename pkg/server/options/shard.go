package options

import (
	"errors"
	"fmt"
	"net/url"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"
)

// rootShard is the name that makes a shard the one with the root workspace.
const rootShard = "root"

// ShardOptions say which part of an installation the server is, and how to find the
// others.
type ShardOptions struct {
	// Name is the name of the shard.
	Name string
	// BaseURL, ExternalURL and VirtualWorkspaceURL are where other shards, clients, and
	// clients of virtual workspaces reach it. Empty means its own address.
	BaseURL, ExternalURL, VirtualWorkspaceURL string

	// The rest is for installations of several processes.
	virtualWorkspaceCAFile         string
	clientCertFile, clientKeyFile  string
	rootShardKubeconfig            string
	shardKubeconfig                string
	cacheKubeconfig                string
	clusterAdminKubeconfig         string
	externalClusterAdminKubeconfig string
	miniproxyFile                  string

	// RootIdentitiesFile is a file with identities of APIExports in root, for when they are
	// made; empty if they are to be made up.
	RootIdentitiesFile string
}

func newShardOptions() ShardOptions { return ShardOptions{Name: rootShard} }

// AddFlags adds the flags of the group to fs.
func (o *ShardOptions) AddFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.Name, "shard-name", o.Name, "Name of this shard. The one called root holds the root workspace.")
	fs.StringVar(&o.BaseURL, "shard-base-url", o.BaseURL,
		"HTTPS URL by which other servers reach this shard. (default its address)")
	fs.StringVar(&o.ExternalURL, "shard-external-url", o.ExternalURL,
		"HTTPS URL by which clients reach the installation. (default --shard-base-url)")
	fs.StringVar(&o.VirtualWorkspaceURL, "shard-virtual-workspace-url", o.VirtualWorkspaceURL,
		"HTTPS URL of the virtual workspaces of this shard. (default --shard-base-url)")

	for _, file := range []struct {
		value       *string
		name, usage string
	}{
		{&o.virtualWorkspaceCAFile, "shard-virtual-workspace-ca-file", "CA certificates to trust virtual workspaces elsewhere by."},
		{&o.clientCertFile, "shard-client-cert-file", "Client certificate to call other servers with."},
		{&o.clientKeyFile, "shard-client-key-file", "Key of that certificate."},
		{&o.rootShardKubeconfig, "root-shard-kubeconfig-file", "Kubeconfig of the root shard, whose context shard-base is used."},
		{&o.shardKubeconfig, "shard-kubeconfig-file", "Kubeconfig with admin rights on the other shards."},
		{&o.cacheKubeconfig, "cache-kubeconfig", "Kubeconfig of a cache server elsewhere."},
		{&o.clusterAdminKubeconfig, "logical-cluster-admin-kubeconfig", "Kubeconfig with admin rights on logical clusters of all shards."},
		{&o.externalClusterAdminKubeconfig, "external-logical-cluster-admin-kubeconfig", "Kubeconfig with admin rights on logical clusters, through the front proxy."},
		{&o.RootIdentitiesFile, "root-identities-file", "YAML file with the identities that APIExports in root get when they are made: {identities: [{export, identity}]}."},
		{&o.miniproxyFile, "miniproxy-mapping-file", "Further paths to serve by proxy, for development."},
	} {
		fs.StringVar(file.value, file.name, "", file.usage)
	}
}

// Validate says what is wrong with the options.
func (o *ShardOptions) Validate() []error {
	var all []error
	if problems := validation.IsDNS1123Label(o.Name); len(problems) > 0 {
		all = append(all, fmt.Errorf("--shard-name=%s: %s", o.Name, problems[0]))
	}
	for _, u := range []struct{ flag, value string }{
		{"shard-base-url", o.BaseURL},
		{"shard-external-url", o.ExternalURL},
		{"shard-virtual-workspace-url", o.VirtualWorkspaceURL},
	} {
		if err := validateURL(u.value); err != nil {
			all = append(all, fmt.Errorf("--%s=%s %w", u.flag, u.value, err))
		}
	}
	if o.Name != rootShard && o.cacheKubeconfig == "" {
		all = append(all, fmt.Errorf("--shard-name=%s needs --cache-kubeconfig: all shards but %s share a cache", o.Name, rootShard))
	}
	if o.clusterAdminKubeconfig != "" && o.ExternalURL == "" {
		all = append(all, errors.New("--logical-cluster-admin-kubeconfig needs --shard-external-url"))
	}
	if (o.clientCertFile == "") != (o.clientKeyFile == "") {
		all = append(all, errors.New("--shard-client-cert-file and --shard-client-key-file must be given together"))
	}
	return all
}

// validateURL says why s is neither empty nor the URL of a server.
func validateURL(s string) error {
	if s == "" {
		return nil
	}
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return fmt.Errorf("is not a URL: %w", err)
	case u.Scheme != "https" || u.Host == "":
		return errors.New("is not of the form https://host:port")
	case u.RawQuery != "" || u.Fragment != "" || u.User != nil:
		return errors.New("has more than a host, a port and a path")
	default:
		return nil
	}
}

// Shard is which part of an installation the server is.
type Shard struct {
	// Name is the name of the shard.
	Name string
	// Root says that the shard holds the root workspace.
	Root bool

	// RootIdentitiesFile holds identities of APIExports in root; empty for none.
	RootIdentitiesFile string

	// The URLs as they were asked for; see Prepared.URLs for those in force.
	baseURL, externalURL, virtualWorkspaceURL string
}
