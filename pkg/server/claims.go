package server

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/internal/claimed"
	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/controllers/permissionclaim"
	kcpschema "github.com/forkless/kcp/internal/schema"
	cluster "github.com/forkless/kcp/pkg/logicalcluster"
)

// buildClaims makes the index of accepted permission claims, for admission and for the
// controllers. The catalog is there when it is asked, and not yet.
func (s *Server) buildClaims() {
	s.claims = claimed.New(s.lookUp)
}

func (s *Server) lookUp(cluster cluster.Name, resource schema.GroupResource) (kcpschema.Served, bool) {
	return s.catalog.Lookup(cluster, resource)
}

// permissionClaimController makes both controllers of claims.
func (s *Server) permissionClaimController() (*controller.Controller, error) {
	watcher, labeler, listener, err := permissionclaim.New(permissionclaim.Config{
		Layer:     s.layer,
		APIs:      s.sharing,
		Index:     s.claims,
		Lookup:    s.lookUp,
		OpenStore: s.openStore,
		EventTTL:  uint64(s.options.EventTTL() / time.Second),
		Settled:   s.settled,
	})
	if err != nil {
		return nil, err
	}
	s.listeners = append(s.listeners, listener)
	s.controllers = append(s.controllers, labeler)
	return watcher, nil
}
