package admission

import (
	"errors"
	"slices"

	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/kubernetes/plugin/pkg/admission/certificates/approval"
	"k8s.io/kubernetes/plugin/pkg/admission/certificates/signing"
	"k8s.io/kubernetes/plugin/pkg/admission/certificates/subjectrestriction"

	"github.com/forkless/kcp/internal/admission/apibinding"
	"github.com/forkless/kcp/internal/admission/apiconversion"
	"github.com/forkless/kcp/internal/admission/apiexport"
	"github.com/forkless/kcp/internal/admission/apiexportendpointslice"
	"github.com/forkless/kcp/internal/admission/apiresourceschema"
	"github.com/forkless/kcp/internal/admission/bind"
	"github.com/forkless/kcp/internal/admission/clusterannotation"
	"github.com/forkless/kcp/internal/admission/deletionfinalizer"
	"github.com/forkless/kcp/internal/admission/informers"
	"github.com/forkless/kcp/internal/admission/logicalcluster"
	"github.com/forkless/kcp/internal/admission/namespacelifecycle"
	"github.com/forkless/kcp/internal/admission/objectlimit"
	"github.com/forkless/kcp/internal/admission/ownerreferences"
	"github.com/forkless/kcp/internal/admission/pathannotation"
	"github.com/forkless/kcp/internal/admission/permissionclaims"
	"github.com/forkless/kcp/internal/admission/policies"
	mutatingpolicy "github.com/forkless/kcp/internal/admission/policies/mutating"
	validatingpolicy "github.com/forkless/kcp/internal/admission/policies/validating"
	"github.com/forkless/kcp/internal/admission/reservedcrdannotations"
	"github.com/forkless/kcp/internal/admission/reservedcrdgroups"
	"github.com/forkless/kcp/internal/admission/reservednames"
	"github.com/forkless/kcp/internal/admission/resourcequota"
	"github.com/forkless/kcp/internal/admission/tenancystatus"
	"github.com/forkless/kcp/internal/admission/webhooks"
	"github.com/forkless/kcp/internal/admission/workspace"
	"github.com/forkless/kcp/internal/admission/workspacetype"
	"github.com/forkless/kcp/internal/admission/workspacetypeexists"
	"github.com/forkless/kcp/internal/exportref"
	claimrules "github.com/forkless/kcp/internal/permissionclaims"
	"github.com/forkless/kcp/pkg/tenancy"
)

// Authorizer answers what users may do, in the logical cluster of the request and in
// others.
type Authorizer interface {
	authorizer.Authorizer
	workspacetypeexists.UseAuthorizer
}

// Config is what the plugins need. All of it is required but what says otherwise.
type Config struct {
	// Types, Clusters and Paths read the tree of workspaces.
	Types    tenancy.Types
	Clusters tenancy.Clusters
	Paths    tenancy.Paths

	// Exports reads APIExports, and knows all that a client has been told of.
	Exports exportref.Exports
	// Conversions reads schemas and what converts between their versions.
	Conversions apiconversion.Reader

	// Namespaces reads namespaces.
	Namespaces namespacelifecycle.Namespaces

	// ObjectLimits says how many objects clusters may hold, ObjectCounts how many they do.
	ObjectLimits objectlimit.Limits
	ObjectCounts objectlimit.Counter

	// Quotas charges what is created to resource quotas.
	Quotas resourcequota.Ledger
	// Configurations are what webhooks and policies of workspaces are read from.
	Configurations informers.Sources
	// Claims knows which permission claims clusters have accepted.
	Claims permissionclaims.Claims
	// Mapper knows the kinds of clusters.
	Mapper ownerreferences.Mapper

	// Objects and ParamKind read the parameters of policies, Structure says how the
	// objects that they change are built.
	Objects   policies.Objects
	ParamKind policies.ParamKind
	Structure mutatingpolicy.Structure

	// Workloads are the plugins for workload types. There are none where there are no such
	// types.
	Workloads []Plugin

	// Authorizer answers questions of plugins about the caller.
	Authorizer Authorizer

	// Single says that clients know of one cluster only, and are told of none.
	Single bool
}

// Plugin is a plugin and its name.
type Plugin struct {
	Name string
	admission.Interface
}

// Plugins returns the plugins in order.
func Plugins(config Config) []Plugin {
	resolver := tenancy.NewResolver(config.Types, config.Clusters, config.Paths)
	hooks := webhooks.Config{Sources: config.Configurations, Authorizer: config.Authorizer, Single: config.Single}
	access := &policies.Access{
		Sources: config.Configurations, Objects: config.Objects, ParamKind: config.ParamKind, Authorizer: config.Authorizer,
	}
	mayBind := bind.Access{Exports: exportref.NewResolver(config.Paths, config.Exports), Authorizer: config.Authorizer}
	return slices.Concat([]Plugin{
		// What need not be looked at any further goes first.
		{namespacelifecycle.Name, namespacelifecycle.New(config.Namespaces, config.Clusters)},
		{tenancystatus.Name, tenancystatus.New()},
		{approval.PluginName, certificateApproval(config.Authorizer)},
		{signing.PluginName, certificateSigning(config.Authorizer)},
		{subjectrestriction.PluginName, subjectrestriction.NewPlugin()},
		{ownerreferences.Name, ownerreferences.New(config.Mapper, config.Authorizer)},

		{apiresourceschema.Name, apiresourceschema.New()},
		{workspace.Name, workspace.New(config.Clusters)},
		{deletionfinalizer.LogicalClusters.Name, deletionfinalizer.New(deletionfinalizer.LogicalClusters)},
		{workspacetype.Name, workspacetype.New(config.Clusters, config.Paths, config.Authorizer)},
		{workspacetypeexists.Name, workspacetypeexists.New(resolver, config.Clusters, config.Authorizer)},
		{logicalcluster.Name, logicalcluster.New()},
		{apiexport.Name, apiexport.New(claimrules.NeedsIdentity)},
		{apibinding.Name, apibinding.New(mayBind)},
		{deletionfinalizer.APIBindings.Name, deletionfinalizer.New(deletionfinalizer.APIBindings)},
		{apiexportendpointslice.Name, apiexportendpointslice.New(mayBind)},
		{apiconversion.Name, apiconversion.New(config.Conversions)},
	}, config.Workloads, []Plugin{
		// What workspaces have configured comes behind what sets fields and before what
		// guards them. Webhooks change objects before policies do, and check them after.
		{webhooks.MutatingName, webhooks.NewMutating(hooks)},
		{mutatingpolicy.Name, mutatingpolicy.New(access, config.Structure)},
		{validatingpolicy.Name, validatingpolicy.New(access)},
		{webhooks.ValidatingName, webhooks.NewValidating(hooks)},

		{reservednames.Name, reservednames.New()},
		{reservedcrdannotations.Name, reservedcrdannotations.New()},
		{reservedcrdgroups.Name, reservedcrdgroups.New()},
		{pathannotation.Name, pathannotation.New(config.Clusters, config.Paths)},
		{clusterannotation.Name, clusterannotation.New()},
		// Behind everything that sets the labels it decides by.
		{permissionclaims.Name, permissionclaims.New(config.Claims)},
		{objectlimit.Name, objectlimit.New(config.ObjectLimits, config.ObjectCounts)},
		// Nothing may refuse what has been charged.
		{resourcequota.Name, resourcequota.New(config.Quotas)},
	})
}

// New returns the plugins as one, or an error if config is not complete.
func New(config Config) (admission.Interface, error) {
	switch {
	case config.Types == nil || config.Clusters == nil || config.Paths == nil:
		return nil, errors.New("admission needs readers of types, clusters and paths")
	case config.Exports == nil:
		return nil, errors.New("admission needs a reader of exports")
	case config.Conversions == nil:
		return nil, errors.New("admission needs a reader of schemas and conversions")
	case config.Namespaces == nil:
		return nil, errors.New("admission needs a reader of namespaces")
	case config.ObjectLimits.Clusters == nil || config.ObjectCounts == nil:
		return nil, errors.New("admission needs to know how many objects there may be and are")
	case config.Quotas == nil:
		return nil, errors.New("admission needs the ledger of quotas")
	case config.Configurations.Index == nil || config.Configurations.Namespaces == nil:
		return nil, errors.New("admission needs the configurations of workspaces")
	case config.Claims == nil:
		return nil, errors.New("admission needs to know what is claimed")
	case config.Mapper == nil:
		return nil, errors.New("admission needs the kinds of clusters")
	case config.Objects == nil || config.ParamKind == nil || config.Structure == nil:
		return nil, errors.New("admission needs what policies read")
	case config.Authorizer == nil:
		return nil, errors.New("admission needs an authorizer")
	}
	var chain []admission.Interface
	for _, plugin := range Plugins(config) {
		// Without its name: the chain asks for the interfaces of the plugin itself.
		chain = append(chain, plugin.Interface)
	}
	return reinvoking{admission.NewChainHandler(chain...)}, nil
}

func certificateApproval(a authorizer.Authorizer) admission.Interface {
	plugin := approval.NewPlugin()
	plugin.SetAuthorizer(a)
	return plugin
}

func certificateSigning(a authorizer.Authorizer) admission.Interface {
	plugin := signing.NewPlugin()
	plugin.SetAuthorizer(a)
	return plugin
}
