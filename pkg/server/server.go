package server

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/utils/clock"

	"github.com/forkless/kcp/internal/admission/configurations"
	"github.com/forkless/kcp/internal/admission/objectlimit"
	"github.com/forkless/kcp/internal/authz"
	"github.com/forkless/kcp/internal/boundcrd"
	"github.com/forkless/kcp/internal/builtin"
	"github.com/forkless/kcp/internal/catalog"
	"github.com/forkless/kcp/internal/claimed"
	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/controllers/apibinding"
	"github.com/forkless/kcp/internal/controllers/crd"
	"github.com/forkless/kcp/internal/controllers/garbagecollector"
	"github.com/forkless/kcp/internal/controllers/storagemigration"
	"github.com/forkless/kcp/internal/discovery"
	"github.com/forkless/kcp/internal/homes"
	"github.com/forkless/kcp/internal/hookcontent"
	"github.com/forkless/kcp/internal/idle"
	"github.com/forkless/kcp/internal/inflight"
	"github.com/forkless/kcp/internal/openapi"
	"github.com/forkless/kcp/internal/quota"
	"github.com/forkless/kcp/internal/route"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/storage/cached"
	"github.com/forkless/kcp/internal/virtual"
	"github.com/forkless/kcp/internal/virtual/apiexport"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/server/options"
)

// Server serves workspaces.
type Server struct {
	options *options.Prepared
	layer   *storage.Layer

	logicalClusters cached.LogicalClusterReader
	workspaces      cached.WorkspaceReader
	workspaceTypes  cached.WorkspaceTypeReader
	shards          cached.ShardReader
	policy          *cached.Policy
	definitions     cached.DefinitionReader
	// sharing reads schemas, exports and bindings.
	sharing *cached.APIs
	// boundDefinitions are what bound schemas are served by, and identities say where
	// their objects are stored.
	boundDefinitions *boundcrd.Definitions
	identities       *boundcrd.Identities
	// presetIdentities are those that exports of root get when they are made.
	presetIdentities map[string][]byte
	// bindings brings what is exported into workspaces, ownDefinitions what these define
	// themselves. resourceLocks keep them from taking the same.
	bindings       *apibinding.Controller
	ownDefinitions *crd.Reconciler
	resourceLocks  *controller.ClusterLocks

	// claims are the permission claims that clusters have accepted.
	claims *claimed.Index

	objectLimits objectlimit.Limits
	// quotas knows the resource quotas, and quotaController counts what they count.
	quotas          *quota.Ledger
	quotaController *controller.Controller

	// trees are those that do not begin at root.
	trees    *route.Trees
	resolver *route.Resolver
	// mounts is nil unless workspaces can be mounted.
	mounts      *mounts
	connections *route.Connections
	bootstrap   *authz.Bootstrap
	authorizer  *authz.Authorizer
	// tokens are made with the keys of service account tokens.
	tokens tokens
	// accounts reads what tokens of service accounts refer to.
	accounts *cached.Accounts
	// rootCA are the certificates that clients trust the server by, in PEM.
	rootCA string
	// own are the definitions of our own APIs, system those of them that every cluster has
	// without a binding, builtins the built-in groups.
	own       []*apiextensionsv1.CustomResourceDefinition
	system    catalog.Source
	builtins  *discovery.Builtins
	catalog   *catalog.Catalog
	kinds     *catalog.Kinds
	discovery *discovery.Discovery
	openapi   *openapi.OpenAPI
	// homes are the home workspaces of users; nil without them.
	homes *homes.Homes
	// virtual are the virtual workspaces, providers that of exports among them.
	virtual   *virtual.Frame
	providers *apiexport.Workspace
	// hookContent lets initializers and terminators into workspaces, where hookAPIs serves
	// them.
	hookContent *hookcontent.Content
	hookAPIs    http.Handler
	controllers []*controller.Controller
	// configurations are the webhooks and admission policies of all clusters.
	configurations *configurations.Index
	// garbage collects what has lost its owners.
	garbage *garbagecollector.Collector
	// migration stores the objects of bound APIs in the version of their schema.
	migration *storagemigration.Migration
	// listeners hear of the objects of all resources.
	listeners []controller.Listener
	// types are the kinds of the built-in groups, groups their registries.
	types   *builtin.Types
	groups  *builtin.Groups
	generic *genericapiserver.GenericAPIServer

	// settled is closed when the controllers have looked at what was there at the start.
	settled, ready chan struct{}
	// interrupted says that the server was stopped before it was ready.
	interrupted atomic.Bool
	// use says how long ago the last request was.
	use *idle.Use
	// inFlight bounds the requests that are served at a time.
	inFlight *inflight.Limit
	// callers are connected to the server; nil where they are not to be hung up on.
	callers *callers
	// controllerWork are the goroutines of the controllers.
	controllerWork work
	// stopping is fired when no new requests are served.
	stopping  *signal
	closeOnce sync.Once
}

// New assembles a server and starts its etcd. The caller calls Run, which ends what New
// has started, or Close. ctx bounds the start of etcd only. The listener is the
// server's from now on, also if there is an error.
func New(ctx context.Context, prepared *options.Prepared) (*Server, error) {
	types := builtin.TypesOf(prepared.Batteries.Has(options.WorkloadTypesBattery))
	if err := boundMetrics(types); err != nil {
		_ = prepared.Listener.Close()
		return nil, err
	}
	preset, err := readIdentities(prepared.Shard.RootIdentitiesFile)
	if err != nil {
		_ = prepared.Listener.Close()
		return nil, err
	}
	s := &Server{
		options:       prepared,
		connections:   route.NewConnections(),
		builtins:      &discovery.Builtins{},
		resourceLocks: controller.NewClusterLocks(),
		inFlight:      inflight.NewLimit(inFlight),
		use:           idle.NewUse(clock.RealClock{}),
		settled:       make(chan struct{}),
		ready:         make(chan struct{}),
		stopping:      newSignal(),

		presetIdentities: preset,
		types:            types,
	}
	if prepared.Etcd.InMemory {
		s.callers = newCallers(prepared.Listener)
	}
	s.configurations = configurations.NewIndex(boundExports{s})
	if err := s.openStorage(ctx); err != nil {
		_ = prepared.Listener.Close()
		return nil, err
	}
	if err := s.assemble(); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// assemble builds the parts, each from those above it.
func (s *Server) assemble() error {
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"authorization", s.buildAuthorization},
		{"tokens", s.buildTokens},
		{"mounts", s.buildMounts},
		{"generic server", s.buildGeneric},
		{"controllers", s.buildControllers},
		{"start-up", s.addStartup},
	} {
		if err := step.do(); err != nil {
			return fmt.Errorf("assembling %s: %w", step.name, err)
		}
	}
	return nil
}

// Run serves until ctx ends, or nobody has used the server for as long as the options
// say, then lets requests finish and stops everything. It may be called once.
func (s *Server) Run(ctx context.Context) error {
	defer s.Close()
	endProfiles, err := s.serveProfiles(ctx)
	if err != nil {
		return err
	}
	defer endProfiles()
	prepared := s.generic.PrepareRun()
	// It goes on for a while after ctx has ended, and may end by itself, with an error.
	running, end := context.WithCancel(context.WithoutCancel(ctx))
	var background sync.WaitGroup
	background.Go(func() { s.announceReady(running) })
	background.Go(func() { s.endWatches(running) })
	serving, stop := context.WithCancel(ctx)
	defer stop()
	background.Go(func() { s.endUnused(running, stop) })
	err = prepared.RunWithContext(serving)
	end()
	background.Wait()
	return err
}

// Ready is closed when /readyz has said ok.
func (s *Server) Ready() <-chan struct{} { return s.ready }

// URL returns the address of the server, without a path.
func (s *Server) URL() string { return s.options.URLs.External }

// Handler serves what the listener serves, for callers in the same process.
func (s *Server) Handler() http.Handler { return s.generic.Handler }

// Close stops etcd and closes the listener. It may be called more than once.
func (s *Server) Close() {
	s.closeOnce.Do(func() {
		_ = s.options.Listener.Close()
		s.controllerWork.stop()
		for _, c := range s.controllers {
			// Who stops a server while it starts may be quicker than they were.
			c.Close()
		}
		s.configurations.Close()
		s.layer.Close()
		cached.Forget()
	})
}

func (s *Server) openStorage(ctx context.Context) (err error) {
	etcd := s.options.Etcd
	settings := storage.Settings{
		Prefix:             etcd.Prefix,
		Anchor:             &storage.Anchor{Resource: cached.LogicalClusters, Name: corev1alpha1.LogicalClusterName},
		CompactionInterval: etcd.CompactionInterval,
		LeaseReuse:         etcd.LeaseReuse,
	}
	if etcd.CompactionInterval == 0 {
		settings.CompactionInterval = storage.NoCompaction
	}
	if etcd.Embedded {
		s.layer, err = storage.StartEmbedded(ctx, storage.EmbeddedOptions{
			Settings:          settings,
			Directory:         etcd.Directory,
			WALSizeBytes:      etcd.WALSizeBytes,
			QuotaBackendBytes: etcd.QuotaBackendBytes,
			ForceNewCluster:   etcd.ForceNewCluster,
			Volatile:          etcd.InMemory,
		})
	} else {
		s.layer, err = storage.Dial(ctx, storage.ExternalOptions{
			Settings: settings,
			Servers:  etcd.Servers,
			// Whoever starts a single cluster starts an etcd for it.
			Exclusive: s.options.Single,
			CAFile:    etcd.CAFile,
			CertFile:  etcd.CertFile,
			KeyFile:   etcd.KeyFile,
		})
	}
	if err != nil {
		return err
	}
	s.logicalClusters = cached.NewLogicalClusterReader(s.layer)
	s.workspaces = cached.NewWorkspaceReader(s.layer)
	s.workspaceTypes = cached.NewWorkspaceTypeReader(s.layer)
	s.shards = cached.NewShardReader(s.layer)
	s.policy = cached.NewPolicy(s.layer)
	s.accounts = cached.NewAccounts(s.layer)
	s.definitions = cached.NewDefinitionReader(s.layer)
	s.sharing = cached.NewAPIs(s.layer)
	s.boundDefinitions = boundcrd.NewDefinitions()
	s.identities = boundcrd.NewIdentities(ownResources()...)
	s.trees = route.NewTrees()
	s.resolver = route.NewResolver(s.workspaces, s.trees)
	s.buildClaims()
	s.limitObjects()
	s.buildQuotas()
	return nil
}
