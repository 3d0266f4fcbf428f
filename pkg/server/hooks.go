package server

import (
	"fmt"
	"net/http"

	"k8s.io/utils/clock"

	"github.com/forkless/kcp/internal/builtin"
	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/controllers/logicalcluster"
	"github.com/forkless/kcp/internal/hookcontent"
	"github.com/forkless/kcp/internal/storage/cached"
)

// buildHookContent makes what lets initializers and terminators into workspaces.
func (s *Server) buildHookContent() {
	s.hookContent = hookcontent.New(hookcontent.Config{
		Clusters:   s.logicalClusters,
		Types:      s.workspaceTypes,
		Authorizer: s.authorizer,
		Recorder:   &logicalcluster.Recorder{Layer: s.layer, Clusters: s.logicalClusters, Clock: clock.RealClock{}},
		Serializer: builtin.Codecs,
	})
}

// content serves initializers and terminators. What it serves them with is known when the
// chain is built, after the virtual workspaces.
func (s *Server) content(w http.ResponseWriter, req *http.Request) {
	s.hookAPIs.ServeHTTP(w, req)
}

// hookContentController ends the requests of initializers and terminators that are done.
func (s *Server) hookContentController() (*controller.Controller, error) {
	clusters, ok := s.layer.Store(cached.LogicalClusters)
	if !ok {
		return nil, fmt.Errorf("the store of %s is not open", cached.LogicalClusters.GroupResource)
	}
	types, ok := s.layer.Store(cached.WorkspaceTypes)
	if !ok {
		return nil, fmt.Errorf("the store of %s is not open", cached.WorkspaceTypes.GroupResource)
	}
	return s.hookContent.Controller(hookcontent.Stores{Clusters: clusters, Types: types}), nil
}
