package server

import (
	"fmt"
	"net/http"

	apistorage "k8s.io/apiserver/pkg/storage"
	"k8s.io/utils/clock"

	"github.com/forkless/kcp/internal/builtin"
	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/storage/cached"
	"github.com/forkless/kcp/internal/virtual/apiexport"
	"github.com/forkless/kcp/internal/virtual/apiresourceschema"
	"github.com/forkless/kcp/internal/virtual/lifecycle"
	"github.com/forkless/kcp/pkg/tenancy"
)

// addVirtualWorkspaces adds the virtual workspaces there are to their frame.
func (s *Server) addVirtualWorkspaces() {
	s.providers = apiexport.New(apiexport.Config{
		APIs:        s.sharing,
		Definitions: s.boundDefinitions,
		Identities:  s.identities,
		Reserved:    s.isReserved,
		Catalog:     s.catalog,
		Discovery:   s.discovery,
		OpenAPI:     s.openapi,
		Authorizer:  s.authorizer.Silent(),
		Policy:      s.authorizer,
		Serializer:  builtin.Codecs,
	})
	s.virtual.Add(s.providers)
	s.virtual.Add(apiresourceschema.New(apiresourceschema.Config{
		APIs:       s.sharing,
		Catalog:    s.catalog,
		Discovery:  s.discovery,
		OpenAPI:    s.openapi,
		Authorizer: s.authorizer.Silent(),
		Serializer: builtin.Codecs,
	}))
	s.buildHookContent()
	for _, kind := range []tenancy.HookKind{tenancy.Initializing, tenancy.Terminating} {
		s.virtual.Add(lifecycle.New(kind, lifecycle.Config{
			Clusters:   func() (apistorage.Interface, bool) { return s.layer.Store(cached.LogicalClusters) },
			Catalog:    s.catalog,
			Discovery:  s.discovery,
			OpenAPI:    s.openapi,
			Authorizer: s.authorizer.Silent(),
			Content:    http.HandlerFunc(s.content),
			Clock:      clock.RealClock{},
			Serializer: builtin.Codecs,
		}))
	}
}

// providersController tells the virtual workspace of exports what changes.
func (s *Server) providersController() (*controller.Controller, error) {
	exports, ok := s.layer.Store(cached.APIExports)
	if !ok {
		return nil, fmt.Errorf("the store of %s is not open", cached.APIExports.GroupResource)
	}
	conversions, ok := s.layer.Store(cached.APIConversions)
	if !ok {
		return nil, fmt.Errorf("the store of %s is not open", cached.APIConversions.GroupResource)
	}
	return s.providers.Controller(apiexport.Stores{Exports: exports, Conversions: conversions}), nil
}
