package server

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/emicklei/go-restful/v3"
	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/admission"
	genericapiserver "k8s.io/apiserver/pkg/server"

	"github.com/forkless/kcp/config/crds"
	"github.com/forkless/kcp/internal/apiversions"
	"github.com/forkless/kcp/internal/builtin"
	"github.com/forkless/kcp/internal/catalog"
	"github.com/forkless/kcp/internal/catalog/compiled"
	"github.com/forkless/kcp/internal/conversion"
	"github.com/forkless/kcp/internal/discovery"
	"github.com/forkless/kcp/internal/openapi"
	kcpschema "github.com/forkless/kcp/internal/schema"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/storage/cached"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// buildCatalog makes what serves the APIs that are not built in, and opens the stores
// of our own kinds: the server reads them whether anybody asks for them or not.
func (s *Server) buildCatalog(admit admission.Interface, config *genericapiserver.Config) error {
	var err error
	if s.own, err = ownDefinitions(); err != nil {
		return err
	}
	system := everywhere
	if s.options.Single {
		// Our own APIs are about workspaces, of which there are none.
		system = nowhere
	}
	if s.system, err = system(); err != nil {
		return err
	}
	s.catalog, err = catalog.New(catalog.Config{
		Stores:              measured{s.layer},
		Source:              s.system,
		TypedKind:           typedKind,
		Converter:           converter,
		Admission:           admit,
		Authorizer:          s.virtual.Authorizer(s.authorizer),
		KindsChanged:        s.kindsChanged,
		Show:                s.show(),
		MinRequestTimeout:   time.Duration(config.MinRequestTimeout) * time.Second,
		MaxRequestBodyBytes: config.MaxRequestBodyBytes,

		DeleteCollectionWorkers: s.options.Etcd.DeleteCollectionWorkers,
	})
	if err != nil {
		return err
	}
	s.kinds = catalog.NewKinds(s.builtins, s.catalog)
	for resource := range cached.Kinds() {
		if err := s.openStore(resource); err != nil {
			return fmt.Errorf("opening %s: %w", resource.GroupResource, err)
		}
	}
	return nil
}

// ownDefinitions are the definitions of our own APIs, for all servers of a process: nobody
// changes them.
var ownDefinitions = sync.OnceValues(crds.All)

// everywhere says which definitions every cluster has without binding them: those of the
// kinds that binding is made of, and the one of logical clusters themselves. They are the
// same for all servers of a process.
var everywhere = sync.OnceValues(func() (catalog.Source, error) {
	own, err := ownDefinitions()
	if err != nil {
		return nil, err
	}
	bound := sets.New(ownResources()...)
	return catalog.EveryCluster(slices.DeleteFunc(slices.Clone(own), func(crd *apiextensionsv1.CustomResourceDefinition) bool {
		return bound.Has(kcpschema.ResourceOf(crd))
	}))
})

// nowhere says that there are no such definitions.
func nowhere() (catalog.Source, error) { return catalog.EveryCluster(nil) }

// ownResources are those of our own APIs that workspaces bind.
func ownResources() []schema.GroupResource {
	return []schema.GroupResource{
		cached.Workspaces.GroupResource, cached.WorkspaceTypes.GroupResource,
		cached.WorkspaceAuthenticationConfigurations.GroupResource,
		cached.Partitions.GroupResource, cached.PartitionSets.GroupResource,
		cached.Shards.GroupResource,
	}
}

func (s *Server) openStore(resource storage.Resource) error {
	_, err := s.catalog.Store(resource)
	return err
}

// openStores opens the stores of all custom resources that cluster may have, bound ones
// among them. Definitions
// that were never established have none, and may be called like a resource of ours.
func (s *Server) openStores(ctx context.Context, cluster logicalcluster.Name) error {
	if err := s.openBoundStores(ctx, cluster); err != nil {
		return err
	}
	definitions, err := s.definitions.List(ctx, cluster)
	if err != nil {
		return err
	}
	for _, crd := range definitions {
		if !apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.Established) {
			continue
		}
		resource := storage.Resource{GroupResource: kcpschema.ResourceOf(crd), Identity: storage.CustomResources}
		if err := s.openStore(resource); err != nil {
			return err
		}
	}
	return nil
}

func typedKind(resource schema.GroupResource) (storage.Kind, bool) {
	kind, ok := cached.Kinds()[storage.Resource{GroupResource: resource}]
	return kind, ok
}

// converter returns what converts between the versions of a resource, where that is not
// what its definition says: our own kinds are converted as Go types, and bound APIs by the
// rules that came with their schema.
func converter(served kcpschema.Served) (compiled.Converter, error) {
	if served.Identity == "" {
		if own, ok := apiversions.For(served.Definition.GroupResource()); ok {
			return own, nil
		}
	}
	if rules := served.Definition.Rules; rules != nil {
		return conversion.Compile(rules, conversion.VersionsOfDefinition(served.Definition.CRD))
	}
	return nil, nil
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
