package server

import (
	"context"
	"fmt"
	"net/http"

	"k8s.io/utils/clock"

	"github.com/forkless/kcp/internal/builtin"
	"github.com/forkless/kcp/internal/homes"
	"github.com/forkless/kcp/internal/tenancy/birth"
	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/tenancy"
)

// buildHomes makes what gives users their home workspaces.
func (s *Server) buildHomes() {
	if !s.options.Homes.Enabled {
		return
	}
	s.homes = homes.New(homes.Config{
		Layer:      s.layer,
		Clusters:   s.logicalClusters,
		Workspaces: s.workspaces,
		Types:      tenancy.NewResolver(s.workspaceTypes, s.logicalClusters, s.resolver),
		Paths:      s.resolver,
		Bindings:   s.bindingPlanner(),
		Catalog:    s.catalog,
		Authorizer: s.authorizer.Silent(),
		Shard:      birth.Shard{Name: s.options.Shard.Name, ExternalURL: s.options.URLs.External},
		RootCA:     s.rootCA,
		Serializer: builtin.Codecs,
		Clock:      clock.RealClock{},
		Buckets:    s.options.Homes.Buckets(),
		RetryAfter: s.options.Homes.RetryAfter(),
	})
}

// withHomes answers requests for homes.
func (s *Server) withHomes(handler http.Handler) http.Handler {
	if s.homes == nil {
		return handler
	}
	return s.homes.With(handler)
}

// expectsHome says whether there may be a home at a path that leads nowhere yet.
func (s *Server) expectsHome(path logicalcluster.Path) bool {
	return s.homes != nil && s.homes.Expects(path)
}

// prepareHomes makes what homes are in.
func (s *Server) prepareHomes(ctx context.Context) error {
	if s.homes == nil {
		return nil
	}
	if err := s.homes.Prepare(ctx); err != nil {
		return fmt.Errorf("preparing home workspaces: %w", err)
	}
	return nil
}
