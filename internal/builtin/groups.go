package builtin

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"

	"github.com/forkless/kcp/internal/builtin/listjson"
	"github.com/forkless/kcp/internal/builtin/workload"
)

// listCacheSize is how much JSON of listed objects is kept for the next list, in bytes.
const listCacheSize = 8 << 20

// version is the only one that is served of any built-in group, but for those of
// workloads, some of which have more.
const version = "v1"

// Groups are the built-in API groups with their registries.
type Groups struct {
	// Core is served under /api.
	Core *genericapiserver.APIGroupInfo
	// Named are served under /apis.
	Named []*genericapiserver.APIGroupInfo
}

// storages are the registries of one group by resource or "resource/subresource".
type storages map[string]rest.Storage

// builder makes the storages of one group. Groups that share a storage pass it
// through the shared value.
type builder struct {
	group  string
	scheme *runtime.Scheme
	// build is nil for groups that hold workload types only.
	build func(*Config, *shared) (storages, error)
}

// shared is what more than one group serves.
type shared struct {
	events rest.Storage
	// workloads are the workload types by group.
	workloads map[string]workload.Storages
}

// builders lists the groups in the order in which Kubernetes announces them. The core
// group makes what others share, so it also has to be built first.
var builders = []builder{
	{"", Scheme, core},
	{"apps", Scheme, nil},
	{"events.k8s.io", Scheme, events},
	{"authentication.k8s.io", Scheme, authentication},
	{"authorization.k8s.io", Scheme, authorization},
	{"autoscaling", Scheme, nil},
	{"batch", Scheme, nil},
	{"certificates.k8s.io", Scheme, certificates},
	{"networking.k8s.io", Scheme, nil},
	{"policy", Scheme, nil},
	{"rbac.authorization.k8s.io", Scheme, rbac},
	{"storage.k8s.io", Scheme, nil},
	{"admissionregistration.k8s.io", Scheme, admissionregistration},
	{"apiextensions.k8s.io", ExtensionsScheme, apiextensions},
	{"scheduling.k8s.io", Scheme, nil},
	{"coordination.k8s.io", Scheme, coordination},
	{"node.k8s.io", Scheme, nil},
	{"discovery.k8s.io", Scheme, nil},
}

// New assembles all groups.
func New(config Config) (*Groups, error) {
	if err := config.validate(); err != nil {
		return nil, fmt.Errorf("configuring built-in APIs: %w", err)
	}

	var (
		groups = &Groups{}
		common = &shared{}
		lists  = listjson.NewCache(listCacheSize)
		codecs = map[*runtime.Scheme]runtime.NegotiatedSerializer{
			Scheme:           listjson.Codecs(servingCodecs(Scheme), lists),
			ExtensionsScheme: servingCodecs(ExtensionsScheme),
		}
	)
	if err := buildWorkloads(&config, common); err != nil {
		return nil, err
	}
	for _, b := range builders {
		resources, err := b.storages(&config, common)
		if err != nil {
			return nil, fmt.Errorf("building storage of group %q: %w", b.group, err)
		}
		if len(resources) == 0 {
			continue
		}
		info := groupInfo(b.group, b.scheme, codecs[b.scheme], resources)
		if b.group == "" {
			groups.Core = info
		} else {
			groups.Named = append(groups.Named, info)
		}
	}
	return groups, nil
}

// storages returns what a group serves.
func (b *builder) storages(config *Config, common *shared) (storages, error) {
	resources := storages{}
	if b.build != nil {
		var err error
		if resources, err = b.build(config, common); err != nil {
			return nil, err
		}
	}
	for resource, registry := range common.workloads[b.group] {
		resources[resource] = registry
	}
	return resources, nil
}

// Install makes server serve the groups. They are installed together because each
// installation builds the OpenAPI models of its groups from the definitions of all
// types.
func (g *Groups) Install(server *genericapiserver.GenericAPIServer) error {
	if err := server.InstallLegacyAPIGroup(genericapiserver.DefaultLegacyAPIPrefix, g.Core); err != nil {
		return fmt.Errorf("installing the core group: %w", err)
	}
	if err := server.InstallAPIGroups(g.Named...); err != nil {
		return fmt.Errorf("installing the named groups: %w", err)
	}
	// The server keeps what it needs of the models; the registries outlive them here.
	for _, group := range append([]*genericapiserver.APIGroupInfo{g.Core}, g.Named...) {
		group.StaticOpenAPISpec = nil
	}
	return nil
}

// groupInfo describes one group. Only the served versions are named: upstream warns about
// each version it knows and that has no storage.
func groupInfo(group string, scheme *runtime.Scheme, codecs runtime.NegotiatedSerializer, resources storages) *genericapiserver.APIGroupInfo {
	info := &genericapiserver.APIGroupInfo{
		VersionedResourcesStorageMap: map[string]map[string]rest.Storage{},
		OptionsExternalVersion:       &schema.GroupVersion{Version: version},
		Scheme:                       scheme,
		ParameterCodec:               runtime.NewParameterCodec(scheme),
		NegotiatedSerializer:         codecs,
	}
	for _, version := range versionsOf(group) {
		info.PrioritizedVersions = append(info.PrioritizedVersions, schema.GroupVersion{Group: group, Version: version})
		info.VersionedResourcesStorageMap[version] = resources
	}
	return info
}
