package builtin

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"

	"github.com/forkless/kcp/internal/builtin/listjson"
)

// listCacheSize is how much JSON of listed objects is kept for the next list, in bytes.
const listCacheSize = 8 << 20

// version is the only one that is served of any built-in group.
const version = "v1"

// Groups are the built-in API groups with their registries.
type Groups struct {
	// Core is served under /api.
	Core *genericapiserver.APIGroupInfo
	// Named are served under /apis.
	Named []*genericapiserver.APIGroupInfo
}

// storages are the registries of one group's v1 by resource or "resource/subresource".
type storages map[string]rest.Storage

// builder makes the storages of one group. Groups that share a storage pass it
// through the shared value.
type builder struct {
	group  string
	scheme *runtime.Scheme
	build  func(*Config, *shared) (storages, error)
}

// shared is what more than one group serves.
type shared struct {
	events rest.Storage
}

// builders lists the groups in the order in which Kubernetes announces them. The core
// group makes what others share, so it also has to be built first.
var builders = []builder{
	{"", Scheme, core},
	{"events.k8s.io", Scheme, events},
	{"authentication.k8s.io", Scheme, authentication},
	{"authorization.k8s.io", Scheme, authorization},
	{"certificates.k8s.io", Scheme, certificates},
	{"rbac.authorization.k8s.io", Scheme, rbac},
	{"admissionregistration.k8s.io", Scheme, admissionregistration},
	{"apiextensions.k8s.io", ExtensionsScheme, apiextensions},
	{"coordination.k8s.io", Scheme, coordination},
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
	for _, b := range builders {
		resources, err := b.build(&config, common)
		if err != nil {
			return nil, fmt.Errorf("building storage of group %q: %w", b.group, err)
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

// groupInfo describes one group. Only v1 is named as a version: upstream warns about
// each version it knows and that has no storage.
func groupInfo(group string, scheme *runtime.Scheme, codecs runtime.NegotiatedSerializer, resources storages) *genericapiserver.APIGroupInfo {
	return &genericapiserver.APIGroupInfo{
		PrioritizedVersions:          []schema.GroupVersion{{Group: group, Version: version}},
		VersionedResourcesStorageMap: map[string]map[string]rest.Storage{version: resources},
		OptionsExternalVersion:       &schema.GroupVersion{Version: version},
		Scheme:                       scheme,
		ParameterCodec:               runtime.NewParameterCodec(scheme),
		NegotiatedSerializer:         codecs,
	}
}
