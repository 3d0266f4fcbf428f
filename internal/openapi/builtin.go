package openapi

import (
	"crypto/sha256"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/emicklei/go-restful/v3"

	"k8s.io/kube-openapi/pkg/builder"
	"k8s.io/kube-openapi/pkg/builder3"
	"k8s.io/kube-openapi/pkg/common/restfuladapter"
	"k8s.io/kube-openapi/pkg/handler"
)

// builtins describes the routes that are installed in the server.
type builtins struct {
	config *Config

	once  sync.Once
	roots map[string][]*restful.WebService
	salt  string
}

// services returns the installed routes by the path they start with, without the
// leading slash: "api/v1", "apis/rbac.authorization.k8s.io/v1", "version".
func (b *builtins) services() map[string][]*restful.WebService {
	b.once.Do(b.gather)
	return b.roots
}

// identity stands for everything besides definitions that documents depend on: the
// program, with the versions of its modules, and the routes, which differ with options.
func (b *builtins) identity() string {
	b.once.Do(b.gather)
	return b.salt
}

func (b *builtins) gather() {
	b.roots = map[string][]*restful.WebService{}
	var content []string
	if info, ok := debug.ReadBuildInfo(); ok {
		content = append(content, info.String())
	}
	for _, service := range b.config.Routes() {
		root := strings.Trim(service.RootPath(), "/")
		b.roots[root] = append(b.roots[root], service)
		for _, route := range service.Routes() {
			content = append(content, route.Method+" "+route.Path)
		}
	}
	// Groups are installed in any order.
	slices.Sort(content)
	sum := sha256.Sum256([]byte(strings.Join(content, "\n")))
	b.salt = string(sum[:])
}

// v2 builds the description of all routes.
func (b *builtins) v2() (fragment, error) {
	var services []*restful.WebService
	for _, atRoot := range b.services() {
		services = append(services, atRoot...)
	}
	// The builder completes the configuration it is given.
	config := *b.config.V2
	swagger, err := builder.BuildOpenAPISpecFromRoutes(restfuladapter.AdaptWebServices(services), &config)
	if err != nil {
		return fragment{}, fmt.Errorf("describing the built-in APIs: %w", err)
	}
	swagger.Definitions = handler.PruneDefaults(swagger.Definitions)
	return fragmentV2(swagger)
}

// v3 builds the description of the routes below root; it is empty if there are none.
func (b *builtins) v3(root string) (fragment, error) {
	services := b.services()[root]
	if len(services) == 0 {
		return fragment{}, nil
	}
	config := *b.config.V3
	openapi, err := builder3.BuildOpenAPISpecFromRoutes(restfuladapter.AdaptWebServices(services), &config)
	if err != nil {
		return fragment{}, fmt.Errorf("describing %s: %w", root, err)
	}
	return fragmentV3(openapi)
}
