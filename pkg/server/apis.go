package server

import (
	"fmt"
	"time"

	"github.com/emicklei/go-restful/v3"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	genericapiserver "k8s.io/apiserver/pkg/server"

	"github.com/forkless/kcp/config/crds"
	"github.com/forkless/kcp/internal/builtin"
	"github.com/forkless/kcp/internal/catalog"
	"github.com/forkless/kcp/internal/discovery"
	"github.com/forkless/kcp/internal/openapi"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/storage/cached"
)

// buildCatalog makes what serves the APIs that are not built in, and opens the stores
// of our own kinds: the server reads them whether anybody asks for them or not.
func (s *Server) buildCatalog(admit admission.Interface, config *genericapiserver.Config) error {
	own, err := crds.All()
	if err != nil {
		return err
	}
	if s.system, err = catalog.EveryCluster(own); err != nil {
		return err
	}
	s.catalog, err = catalog.New(catalog.Config{
		Stores:              s.layer,
		Source:              s.system,
		TypedKind:           typedKind,
		Admission:           admit,
		Authorizer:          s.authorizer,
		MinRequestTimeout:   time.Duration(config.MinRequestTimeout) * time.Second,
		MaxRequestBodyBytes: config.MaxRequestBodyBytes,
	})
	if err != nil {
		return err
	}
	for resource := range cached.Kinds() {
		if err := s.openStore(resource); err != nil {
			return fmt.Errorf("opening %s: %w", resource.GroupResource, err)
		}
	}
	return nil
}

func (s *Server) openStore(resource storage.Resource) error {
	_, err := s.catalog.Store(resource)
	return err
}

func typedKind(resource schema.GroupResource) (storage.Kind, bool) {
	kind, ok := cached.Kinds()[storage.Resource{GroupResource: resource}]
	return kind, ok
}

// buildDocuments makes what serves discovery and OpenAPI.
func (s *Server) buildDocuments(config *genericapiserver.Config) {
	s.discovery = discovery.New(discovery.Config{
		Builtins:    s.builtins,
		Definitions: s.catalog,
		Serializer:  builtin.Codecs,
	})
	s.openapi = openapi.New(openapi.Config{
		// The routes are complete by the time the first request asks for them.
		Routes:      func() []*restful.WebService { return s.generic.Handler.GoRestfulContainer.RegisteredWebServices() },
		V2:          config.OpenAPIConfig,
		V3:          config.OpenAPIV3Config,
		Definitions: s.catalog,
	})
}
