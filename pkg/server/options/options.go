package options

import (
	"errors"

	"github.com/spf13/pflag"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	cliflag "k8s.io/component-base/cli/flag"
)

// Options are everything that can be asked of a server.
type Options struct {
	// RootDirectory is the base of all generated files. With the empty string nothing
	// is generated, and whatever has to lie somewhere needs a path of its own.
	RootDirectory string
	// Single makes the server a single cluster to its clients, as a kube-apiserver is: see
	// Completed.Single. There is no flag for it; another program sets it.
	Single bool

	Serving         ServingOptions
	Etcd            EtcdOptions
	Admin           AdminOptions
	Batteries       BatteryOptions
	Authentication  AuthenticationOptions
	ServiceAccounts ServiceAccountOptions
	Authorization   AuthorizationOptions
	Shard           ShardOptions
	Mounts          MountOptions
	Controllers     ControllerOptions
	Homes           HomeOptions
	Limits          LimitOptions
	Workloads       WorkloadOptions
	Requests        RequestOptions
	Shutdown        ShutdownOptions
	Observability   ObservabilityOptions
	Audit           *genericoptions.AuditOptions
	Features        FeatureOptions
	Logging         LoggingOptions

	// flags are those that AddFlags added, to know which were set.
	flags *pflag.FlagSet
}

// defaultRootDirectory is where a server keeps its files unless told otherwise.
const defaultRootDirectory = ".kcp"

// NewOptions returns the defaults.
func NewOptions() *Options {
	return &Options{
		RootDirectory:   defaultRootDirectory,
		Serving:         newServingOptions(),
		Etcd:            newEtcdOptions(),
		Batteries:       newBatteryOptions(),
		Authentication:  newAuthenticationOptions(),
		ServiceAccounts: newServiceAccountOptions(),
		Authorization:   newAuthorizationOptions(),
		Shard:           newShardOptions(),
		Controllers:     newControllerOptions(),
		Homes:           newHomeOptions(),
		Limits:          newLimitOptions(),
		Workloads:       newWorkloadOptions(),
		Requests:        newRequestOptions(),
		Shutdown:        ShutdownOptions{},
		Observability:   ObservabilityOptions{Profiling: true},
		Audit:           newAuditOptions(),
		Logging:         newLoggingOptions(),
	}
}

// Groups of flags, in the order in which help shows them.
const (
	groupGeneral         = "general"
	groupServing         = "serving"
	groupBatteries       = "batteries and admin"
	groupEtcd            = "etcd"
	groupAuthentication  = "authentication"
	groupServiceAccounts = "service accounts"
	groupAuthorization   = "authorization"
	groupShard           = "sharding"
	groupMounts          = "mounts"
	groupControllers     = "controllers"
	groupHomes           = "home workspaces"
	groupLimits          = "limits"
	groupWorkloads       = "workload types"
	groupRequests        = "requests"
	groupShutdown        = "shutdown"
	groupAudit           = "audit"
	groupObservability   = "observability"
)

// Flags returns the flags, which write into o, by groups.
func (o *Options) Flags() cliflag.NamedFlagSets {
	var groups cliflag.NamedFlagSets

	general := groups.FlagSet(groupGeneral)
	general.StringVar(&o.RootDirectory, "root-directory", o.RootDirectory,
		"Directory of all generated files. With an empty string nothing is generated.")
	o.Features.addFlags(general)

	o.Serving.AddFlags(groups.FlagSet(groupServing))
	o.Batteries.AddFlags(groups.FlagSet(groupBatteries))
	o.Admin.AddFlags(groups.FlagSet(groupBatteries))
	o.Etcd.AddFlags(groups.FlagSet(groupEtcd))
	o.Authentication.AddFlags(groups.FlagSet(groupAuthentication))
	o.ServiceAccounts.AddFlags(groups.FlagSet(groupServiceAccounts))
	o.Authorization.AddFlags(groups.FlagSet(groupAuthorization))
	o.Shard.AddFlags(groups.FlagSet(groupShard))
	o.Mounts.AddFlags(groups.FlagSet(groupMounts))
	o.Controllers.AddFlags(groups.FlagSet(groupControllers))
	o.Homes.AddFlags(groups.FlagSet(groupHomes))
	o.Limits.AddFlags(groups.FlagSet(groupLimits))
	o.Workloads.AddFlags(groups.FlagSet(groupWorkloads))
	o.Requests.AddFlags(groups.FlagSet(groupRequests))
	o.Shutdown.AddFlags(groups.FlagSet(groupShutdown))
	o.Audit.AddFlags(groups.FlagSet(groupAudit))
	o.Observability.AddFlags(groups.FlagSet(groupObservability))
	o.Logging.AddFlags(groups.FlagSet(groupObservability))

	for _, group := range groups.FlagSets {
		markWithoutEffect(group)
	}
	return groups
}

// AddFlags adds all flags to fs and remembers it, to know at completion which of them
// were set.
func (o *Options) AddFlags(fs *pflag.FlagSet) {
	groups := o.Flags()
	for _, name := range groups.Order {
		fs.AddFlagSet(groups.FlagSets[name])
	}
	o.flags = fs
}

// set says whether the flag of this name was given.
func (o *Options) set(name string) bool {
	return o.flags != nil && o.flags.Changed(name)
}

// Validate says what is wrong with the options, each error naming the flag to change.
func (o *Options) Validate() []error {
	var all []error
	for _, errs := range [][]error{
		o.Features.Validate(),
		o.Serving.Validate(),
		o.Batteries.Validate(),
		o.Etcd.Validate(),
		o.Authentication.Validate(),
		o.ServiceAccounts.Validate(),
		o.Authorization.Validate(),
		o.Shard.Validate(),
		o.Mounts.Validate(),
		o.Controllers.Validate(),
		o.Homes.Validate(),
		o.Limits.Validate(),
		o.Workloads.Validate(),
		o.Requests.Validate(),
		o.Shutdown.Validate(),
		o.Audit.Validate(),
		o.Observability.Validate(),
		o.Logging.Validate(),
		o.validateRootless(),
	} {
		all = append(all, errs...)
	}
	return all
}

// validateRootless says which paths are missing when there is no root directory to
// put files into.
func (o *Options) validateRootless() []error {
	if o.RootDirectory != "" {
		return nil
	}
	var all []error
	if o.Etcd.embedded() && o.Etcd.Embedded.Directory == "" && !o.Etcd.Embedded.InMemory {
		all = append(all, errors.New("--root-directory is empty, so the embedded etcd needs --embedded-etcd-directory or --in-memory"))
	}
	batteries, err := o.Batteries.parse()
	if err == nil && batteries.Has(AdminBattery) && (o.Admin.KubeconfigPath == "" || o.Admin.TokenHashPath == "") {
		all = append(all, errors.New("--root-directory is empty, so the admin battery needs "+
			"--kubeconfig-path and --authentication-admin-token-path; --batteries-included=-admin does without"))
	}
	return all
}
