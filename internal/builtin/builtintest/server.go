// Package builtintest makes generic API servers for tests that serve the built-in APIs
// without a storage: routes, discovery and OpenAPI are the real ones, but a request for
// an object panics.
package builtintest

import (
	"net"
	"net/http"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/endpoints/discovery/aggregated"
	"k8s.io/apiserver/pkg/registry/generic"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/apiserver/pkg/util/compatibility"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	rbacvalidation "k8s.io/kubernetes/pkg/registry/rbac/validation"
	"k8s.io/kubernetes/pkg/serviceaccount"

	"github.com/forkless/kcp/internal/builtin"
	"github.com/forkless/kcp/internal/builtin/workload"
)

// Config returns a configuration whose registries have no storage.
func Config() builtin.Config {
	return builtin.Config{
		RESTOptions:   noStorage{},
		Authorizer:    authorizerfactory.NewAlwaysAllowAuthorizer(),
		RoleRules:     noRoleRules{},
		UserRules:     noUserRules{},
		Authenticator: authenticator.RequestFunc(func(*http.Request) (*authenticator.Response, bool, error) { return nil, false, nil }),
		Tokens:        &builtin.Tokens{Issuer: noTokens{}},
	}
}

// Workloads returns a choice with which workload types are served.
func Workloads() *workload.Services {
	return &workload.Services{
		ClusterIPs: []net.IPNet{{IP: net.IPv4(10, 0, 0, 0).To4(), Mask: net.CIDRMask(24, 32)}},
		NodePorts:  utilnet.PortRange{Base: 30000, Size: 2768},
	}
}

// NewServer returns a server with the built-in groups of config, which are announced to
// discovery. It does not listen.
func NewServer(t testing.TB, config builtin.Config, discovery aggregated.ResourceManager) *genericapiserver.GenericAPIServer {
	t.Helper()
	groups, err := builtin.New(config)
	if err != nil {
		t.Fatal(err)
	}

	serverConfig := genericapiserver.NewConfig(builtin.Codecs)
	serverConfig.ExternalAddress = "localhost:6443"
	serverConfig.LoopbackClientConfig = &rest.Config{}
	serverConfig.EffectiveVersion = compatibility.DefaultBuildEffectiveVersion()
	serverConfig.OpenAPIV3Config = builtin.TypesOf(config.Workloads != nil).OpenAPIV3Config("Kubernetes", "v1")
	serverConfig.SkipOpenAPIInstallation = true
	serverConfig.EnableDiscovery = false
	serverConfig.AggregatedDiscoveryGroupManager = discovery
	// The routes alone are wanted, without the filters before them.
	serverConfig.BuildHandlerChainFunc = func(routes http.Handler, _ *genericapiserver.Config) http.Handler { return routes }
	server, err := serverConfig.Complete(nil).New("test", genericapiserver.NewEmptyDelegate())
	if err != nil {
		t.Fatal(err)
	}
	server.AggregatedLegacyDiscoveryGroupManager = discovery
	if err := groups.Install(server); err != nil {
		t.Fatal(err)
	}
	return server
}

// noStorage lets registries be built whose storage is never called.
type noStorage struct{}

// GetRESTOptions implements generic.RESTOptionsGetter.
func (noStorage) GetRESTOptions(resource schema.GroupResource, _ runtime.Object) (generic.RESTOptions, error) {
	codecs := builtin.StorageCodecs(resource.Group)
	encoder := codecs.EncoderForVersion(codecs.SupportedMediaTypes()[0].Serializer, schema.GroupVersion{Group: resource.Group, Version: "v1"})
	config := storagebackend.Config{Codec: runtime.NewCodec(encoder, codecs.UniversalDeserializer())}
	return generic.RESTOptions{
		StorageConfig:  config.ForResource(resource),
		ResourcePrefix: "/" + resource.Group + "/" + resource.Resource,
		Decorator: func(*storagebackend.ConfigForResource, string, func(runtime.Object) (string, error), func() runtime.Object, func() runtime.Object, storage.AttrFunc, storage.IndexerFuncs, *cache.Indexers) (storage.Interface, factory.DestroyFunc, error) {
			return nil, func() {}, nil
		},
	}, nil
}

type noTokens struct{ serviceaccount.TokenGenerator }

type noRoleRules struct {
	rbacvalidation.AuthorizationRuleResolver
}

type noUserRules struct{ authorizer.RuleResolver }
