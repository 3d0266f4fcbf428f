package server

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"

	"github.com/forkless/kcp/internal/catalog"
	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/controllers/apiexport"
	"github.com/forkless/kcp/internal/controllers/apiexportendpointslice"
	"github.com/forkless/kcp/internal/controllers/bootstrappolicy"
	"github.com/forkless/kcp/internal/controllers/clusterroleaggregation"
	"github.com/forkless/kcp/internal/controllers/crd"
	"github.com/forkless/kcp/internal/controllers/defaultbindings"
	"github.com/forkless/kcp/internal/controllers/defaults"
	"github.com/forkless/kcp/internal/controllers/logicalcluster"
	"github.com/forkless/kcp/internal/controllers/maintainedbindings"
	"github.com/forkless/kcp/internal/controllers/namespace"
	"github.com/forkless/kcp/internal/controllers/policystatus"
	"github.com/forkless/kcp/internal/controllers/storagemigration"
	"github.com/forkless/kcp/internal/controllers/tokensecret"
	"github.com/forkless/kcp/internal/controllers/workspace"
	"github.com/forkless/kcp/internal/controllers/workspacetype"
	"github.com/forkless/kcp/internal/storage/cached"
	cluster "github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/tenancy"
)

// definitionWorkers is how many CustomResourceDefinitions are looked at at a time.
const definitionWorkers = 8

// buildControllers makes all controllers. They are the same however many workspaces
// there are.
func (s *Server) buildControllers() error {
	// Those so far are what admission needs to hear of.
	needed := slices.Clone(s.listeners)
	for _, build := range []func() (*controller.Controller, error){
		s.bootstrapPolicyController,
		s.clusterRoleController,
		s.definitionController,
		s.workspaceController,
		s.workspaceTypeController,
		s.logicalClusterController,
		s.namespaceController,
		func() (*controller.Controller, error) { return s.quotaController, nil },
		s.garbageCollector,
		s.defaultsController,
		s.tokenSecretController,
		s.policyStatusController,
		s.storageMigrationController,
		s.exportController,
		s.defaultEndpointSliceController,
		s.endpointSliceController,
		s.providersController,
		s.hookContentController,
		s.bindingController,
		s.permissionClaimController,
		s.defaultBindingsController,
		s.maintainedBindingsController,
	} {
		c, err := build()
		if err != nil {
			return err
		}
		s.controllers = append(s.controllers, c)
	}
	if s.options.Single {
		s.keepSingle(needed)
		return nil
	}
	mounted, err := s.mountControllers()
	s.controllers = append(s.controllers, mounted...)
	return err
}

func (s *Server) bootstrapPolicyController() (*controller.Controller, error) {
	return bootstrappolicy.New(s.layer, s.policy, s.bootstrap)
}

func (s *Server) clusterRoleController() (*controller.Controller, error) {
	return clusterroleaggregation.New(clusterroleaggregation.Config{Layer: s.layer, Policy: s.policy, Clock: clock.RealClock{}})
}

func (s *Server) workspaceController() (*controller.Controller, error) {
	return workspace.New(workspace.Config{
		Layer:      s.layer,
		Workspaces: s.workspaces,
		Clusters:   s.logicalClusters,
		Shards:     s.shards,
		Types:      tenancy.NewResolver(s.workspaceTypes, s.logicalClusters, s.resolver),
		Bindings:   s.bindingPlanner(),
		Catalog:    s.catalog,
		RootCA:     s.rootCA,
		Clock:      clock.RealClock{},
	})
}

func (s *Server) workspaceTypeController() (*controller.Controller, error) {
	return workspacetype.New(workspacetype.Config{Layer: s.layer, Types: s.workspaceTypes, Shards: s.shards})
}

func (s *Server) defaultBindingsController() (*controller.Controller, error) {
	return defaultbindings.New(defaultbindings.Config{
		Layer:    s.layer,
		Clusters: s.logicalClusters,
		APIs:     s.sharing,
		Types:    tenancy.NewResolver(s.workspaceTypes, s.logicalClusters, s.resolver),
		Planner:  s.bindingPlanner(),
		Clock:    clock.RealClock{},
	})
}

func (s *Server) maintainedBindingsController() (*controller.Controller, error) {
	return maintainedbindings.New(maintainedbindings.Config{
		Layer:          s.layer,
		Clusters:       s.logicalClusters,
		WorkspaceTypes: s.workspaceTypes,
		APIs:           s.sharing,
		Types:          tenancy.NewResolver(s.workspaceTypes, s.logicalClusters, s.resolver),
		Planner:        s.bindingPlanner(),
		Clock:          clock.RealClock{},
	})
}

func (s *Server) logicalClusterController() (*controller.Controller, error) {
	c, listener, err := logicalcluster.New(logicalcluster.Config{
		Layer:      s.layer,
		Clusters:   s.logicalClusters,
		Workspaces: s.workspaces,
		Shards:     s.shards,
		Policy:     s.policy,
		OpenStores: s.openStores,
		Trees:      s.trees,
		Cut:        s.connections.Cut,
		Clock:      clock.RealClock{},
	})
	s.listeners = append(s.listeners, listener)
	return c, err
}

func (s *Server) namespaceController() (*controller.Controller, error) {
	return namespace.New(namespace.Config{
		Layer:      s.layer,
		Namespaces: cached.NewNamespaceReader(s.layer),
		OpenStores: s.openStores,
		Clock:      clock.RealClock{},
	})
}

func (s *Server) defaultsController() (*controller.Controller, error) {
	c, listener := defaults.New(defaults.Config{
		Layer:      s.layer,
		Clusters:   s.logicalClusters,
		Namespaces: cached.NewNamespaceReader(s.layer),
		Accounts:   s.accounts,
		ConfigMaps: cached.NewConfigMapReader(s.layer),
		RootCA:     s.rootCA,
		Clock:      clock.RealClock{},
	})
	s.listeners = append(s.listeners, listener)
	return c, nil
}

func (s *Server) tokenSecretController() (*controller.Controller, error) {
	c, listener := tokensecret.New(tokensecret.Config{
		Layer:    s.layer,
		Accounts: s.accounts,
		Tokens:   s.tokens.legacy,
		RootCA:   []byte(s.rootCA),
		Clock:    clock.RealClock{},
	})
	s.listeners = append(s.listeners, listener)
	return c, nil
}

func (s *Server) policyStatusController() (*controller.Controller, error) {
	return policystatus.New(policystatus.Config{
		Layer:    s.layer,
		Policies: cached.NewValidatingPolicyReader(s.layer),
		Mapper:   s.kinds.Mapper,
		Schema:   s.schemaOf,
	})
}

func (s *Server) exportController() (*controller.Controller, error) {
	c, listener, err := apiexport.New(apiexport.Config{
		Layer:      s.layer,
		APIs:       s.sharing,
		Accounts:   s.accounts,
		Namespaces: cached.NewNamespaceReader(s.layer),
		Clock:      clock.RealClock{},
	})
	s.listeners = append(s.listeners, listener)
	return c, err
}

func (s *Server) defaultEndpointSliceController() (*controller.Controller, error) {
	return apiexportendpointslice.NewDefaults(s.layer, s.sharing, clock.RealClock{})
}

func (s *Server) endpointSliceController() (*controller.Controller, error) {
	return apiexportendpointslice.New(apiexportendpointslice.Config{
		Layer:      s.layer,
		APIs:       s.sharing,
		Partitions: cached.NewPartitionReader(s.layer),
		Shards:     s.shards,
		Shard:      s.options.Shard.Name,
		Paths:      s.resolver,
	})
}

func (s *Server) storageMigrationController() (*controller.Controller, error) {
	s.migration = storagemigration.New(storagemigration.Config{
		Catalog:       s.catalog,
		Unconvertible: catalog.IsUnconvertible,
		Settle:        2 * catalog.WatchGrace,
		Clock:         clock.RealClock{},
	})
	s.listeners = append(s.listeners, s.migration)
	return s.migration.Controller, nil
}

func (s *Server) definitionController() (*controller.Controller, error) {
	store, _ := s.layer.Store(cached.CustomResourceDefinitions)
	var c *controller.Controller
	s.ownDefinitions = crd.NewReconciler(crd.Config{
		Definitions: s.definitions,
		Clusters:    s.logicalClusters,
		Catalog:     s.catalog,
		Reserved:    s.namesOfOthers,
		Locks:       s.resourceLocks,
		Enqueue:     func(key controller.Key) { c.Enqueue(key) },
		Now:         time.Now,
	})
	c = controller.New(controller.Options{
		Name:    "customresourcedefinition",
		Workers: definitionWorkers,
		Sources: []controller.Source{{
			Store:  store,
			Prefix: cached.CustomResourceDefinitions.Prefix(),
			Keys:   ownDefinition,
			Known:  func() []controller.Key { return knownDefinitions(s.catalog) },
		}},
		Reconcile: s.ownDefinitions.Reconcile,
	})
	return c, nil
}

// ownDefinition returns the key of a definition of a workspace. Those that bound schemas
// have become are the business of bindings.
func ownDefinition(obj runtime.Object) []controller.Key {
	keys := controller.OwnKey(obj)
	if len(keys) == 1 && keys[0].Cluster == cluster.BoundCRDs {
		return nil
	}
	return keys
}

// knownDefinitions returns the keys of the definitions that the catalog serves.
func knownDefinitions(c *catalog.Catalog) []controller.Key {
	var keys []controller.Key
	c.Names(func(cluster cluster.Name, name string) {
		keys = append(keys, controller.Key{Cluster: cluster, Name: name})
	})
	return keys
}

// namesOfOthers returns the names of a group that no CustomResourceDefinition of a cluster
// can have: those of bound, of our own and of built-in APIs.
func (s *Server) namesOfOthers(ctx context.Context, in cluster.Name, group string) (crd.Names, error) {
	names := crd.NewNames()
	bound, err := s.bindings.Names(ctx, in, group)
	if err != nil {
		return names, err
	}
	for _, rival := range slices.Concat(bound, s.reserved(in, group)) {
		names.Add(&rival.Names)
	}
	for _, own := range s.own {
		// Those that a cluster has not bound, too: their stores hold the objects of all
		// clusters, and would take those of a definition of the same name for their own.
		if own.Spec.Group == group {
			names.Add(&own.Spec.Names)
		}
	}
	return names, nil
}
