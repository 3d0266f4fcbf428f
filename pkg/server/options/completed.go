package options

import (
	"fmt"
	"net"
	"path/filepath"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	genericoptions "k8s.io/apiserver/pkg/server/options"

	"github.com/forkless/kcp/internal/features"
)

// KubeconfigFile is the name of the kubeconfig of admins in the root directory.
const KubeconfigFile = "admin.kubeconfig"

// Other files and directories in the root directory.
const (
	tokenHashFile = ".admin-token-store"
	tokenKeyFile  = "sa.key"
	etcdDirectory = "etcd-server"
)

// Completed is what a server is made from. It is data without behaviour: paths are
// absolute, defaults are filled in, and nothing contradicts anything else.
type Completed struct {
	// RootDirectory is the directory of all generated files; empty if none are to be
	// generated.
	RootDirectory string
	// RootDirectoryAsGiven is the same as it was typed, to talk about it to people.
	RootDirectoryAsGiven string
	// Single makes the server a single cluster to its clients. Requests that name no
	// cluster go to system:admin, whose policy is all the policy there is; there are no
	// workspaces, and no controllers but those without which a kube-apiserver is not what
	// it is.
	Single bool

	Serving        Serving
	Etcd           Etcd
	Admin          Admin
	Batteries      sets.Set[Battery]
	Authentication Authentication
	// ServiceAccounts is how their tokens are made and checked.
	ServiceAccounts ServiceAccounts
	Authorization   Authorization
	Shard           Shard
	Mounts          MountOptions
	Controllers     ControllerOptions
	Homes           HomeOptions
	Limits          LimitOptions
	Workloads       WorkloadOptions
	Requests        RequestOptions
	Shutdown        ShutdownOptions
	Observability   ObservabilityOptions
	Audit           *genericoptions.AuditOptions
	Logging         Logging

	// WithoutEffect are the flags that were set although this version does not heed
	// them, as "--name", sorted.
	WithoutEffect []string
}

// EventTTL is how long events are kept.
func (c *Completed) EventTTL() time.Duration { return c.Requests.EventTTL }

// Complete checks the options and works out what they mean. It also sets the feature
// gates, which hold for the whole process; that is the only thing it changes.
func (o *Options) Complete() (*Completed, error) {
	if errs := o.Validate(); len(errs) > 0 {
		return nil, problems(errs)
	}
	batteries, err := o.Batteries.parse()
	if err != nil {
		return nil, err
	}
	if err := features.Set(o.Features.Gates); err != nil {
		return nil, err
	}

	p := &paths{}
	root := p.absolute(o.RootDirectory)
	below := func(given, name string) string { return p.withDefault(given, root, name) }
	completed := &Completed{
		RootDirectory:        root,
		RootDirectoryAsGiven: o.RootDirectory,
		Single:               o.Single,
		Serving:              o.completeServing(p, root),
		Etcd:                 o.completeEtcd(p, below),
		Admin: Admin{
			KubeconfigPath: below(o.Admin.KubeconfigPath, KubeconfigFile),
			TokenHashPath:  below(o.Admin.TokenHashPath, tokenHashFile),
		},
		Batteries:       batteries,
		Authentication:  o.completeAuthentication(p),
		ServiceAccounts: o.completeServiceAccounts(p, below("", tokenKeyFile)),
		Authorization: Authorization{
			Order:            o.Authorization.Order,
			AlwaysAllowPaths: o.Authorization.AlwaysAllowPaths,
		},
		Shard: Shard{
			Name:                o.Shard.Name,
			Root:                o.Shard.Name == rootShard,
			RootIdentitiesFile:  p.absolute(o.Shard.RootIdentitiesFile),
			baseURL:             o.Shard.BaseURL,
			externalURL:         o.Shard.ExternalURL,
			virtualWorkspaceURL: o.Shard.VirtualWorkspaceURL,
		},
		Mounts:        o.completeMounts(p),
		Controllers:   o.Controllers,
		Homes:         o.Homes,
		Limits:        o.Limits,
		Workloads:     o.Workloads,
		Requests:      o.Requests,
		Shutdown:      o.Shutdown,
		Observability: o.Observability,
		Audit:         o.Audit,
		Logging: Logging{
			Quiet:         o.Logging.quiet(),
			Classic:       o.set("v") || o.set("vmodule") || o.set("logging-format"),
			Configuration: o.Logging.LoggingConfiguration,
		},
		WithoutEffect: withoutEffect(o.flags),
	}
	if p.err != nil {
		return nil, p.err
	}
	return completed, nil
}

func (o *Options) completeServing(p *paths, root string) Serving {
	bind := o.Serving.BindAddress
	if bind == nil {
		bind = net.IPv4zero
	}
	directory := p.absolute(o.Serving.ServerCert.CertDirectory)
	if directory == "" {
		directory = root
	}
	return Serving{
		BindAddress:   bind,
		Port:          o.Serving.BindPort,
		CertFile:      p.absolute(o.Serving.ServerCert.CertKey.CertFile),
		KeyFile:       p.absolute(o.Serving.ServerCert.CertKey.KeyFile),
		CertDirectory: directory,
		tls:           *o.Serving.SecureServingOptions,
	}
}

func (o *Options) completeEtcd(p *paths, below func(given, name string) string) Etcd {
	transport := o.Etcd.StorageConfig.Transport
	etcd := Etcd{
		Embedded:           o.Etcd.embedded(),
		Prefix:             o.Etcd.StorageConfig.Prefix,
		CompactionInterval: o.Etcd.StorageConfig.CompactionInterval,
		LeaseReuse:         time.Duration(o.Etcd.StorageConfig.LeaseManagerConfig.ReuseDurationSeconds) * time.Second,
		HealthTimeout:      o.Etcd.StorageConfig.HealthcheckTimeout,
		ReadyTimeout:       o.Etcd.StorageConfig.ReadycheckTimeout,

		MediaType:               o.Etcd.DefaultStorageMediaType,
		DeleteCollectionWorkers: o.Etcd.DeleteCollectionWorkers,
		EncryptionConfig:        p.absolute(o.Etcd.EncryptionProviderConfigFilepath),
		EncryptionReload:        o.Etcd.EncryptionProviderConfigAutomaticReload,
	}
	if !etcd.Embedded {
		etcd.Servers = transport.ServerList
		etcd.CAFile = p.absolute(transport.TrustedCAFile)
		etcd.CertFile = p.absolute(transport.CertFile)
		etcd.KeyFile = p.absolute(transport.KeyFile)
		return etcd
	}
	etcd.InMemory = o.Etcd.Embedded.InMemory
	if !etcd.InMemory {
		etcd.Directory = below(o.Etcd.Embedded.Directory, etcdDirectory)
	}
	etcd.WALSizeBytes = o.Etcd.Embedded.WALSizeBytes
	etcd.QuotaBackendBytes = o.Etcd.Embedded.QuotaBackendBytes
	etcd.ForceNewCluster = o.Etcd.Embedded.ForceNewCluster
	return etcd
}

func (o *Options) completeAuthentication(p *paths) Authentication {
	audiences := o.Authentication.APIAudiences
	if len(audiences) == 0 {
		audiences = o.ServiceAccounts.Issuers[:1]
	}
	requestHeader := o.Authentication.RequestHeader
	requestHeader.ClientCAFile = p.absolute(requestHeader.ClientCAFile)
	return Authentication{
		Anonymous:     o.Authentication.Anonymous,
		TokenFile:     p.absolute(o.Authentication.TokenFile),
		ClientCAFile:  p.absolute(o.Authentication.ClientCert.ClientCA),
		RequestHeader: requestHeader,
		APIAudiences:  audiences,
		DropGroups:    o.Authentication.DropGroups,
	}
}

// paths makes paths absolute and keeps the first error, so that completion reads as a
// list.
type paths struct{ err error }

// absolute returns path as an absolute one; empty stays empty.
func (p *paths) absolute(path string) string {
	if path == "" {
		return ""
	}
	abs, err := filepath.Abs(path)
	if err != nil && p.err == nil {
		p.err = fmt.Errorf("path %s: %w", path, err)
	}
	return abs
}

// withDefault returns given as an absolute path or, without it, name in the directory
// root. Without a root it is empty.
func (p *paths) withDefault(given, root, name string) string {
	if given == "" && root != "" {
		return filepath.Join(root, name)
	}
	return p.absolute(given)
}
