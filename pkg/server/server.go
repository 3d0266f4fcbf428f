package server

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	genericapiserver "k8s.io/apiserver/pkg/server"
	kubeserviceaccount "k8s.io/kubernetes/pkg/serviceaccount"

	"github.com/forkless/kcp/internal/admission/configurations"
	"github.com/forkless/kcp/internal/admission/objectlimit"
	"github.com/forkless/kcp/internal/authz"
	"github.com/forkless/kcp/internal/builtin"
	"github.com/forkless/kcp/internal/catalog"
	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/controllers/garbagecollector"
	"github.com/forkless/kcp/internal/discovery"
	"github.com/forkless/kcp/internal/openapi"
	"github.com/forkless/kcp/internal/quota"
	"github.com/forkless/kcp/internal/route"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/storage/cached"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
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

	objectLimits objectlimit.Limits
	// quotas knows the resource quotas, and quotaController counts what they count.
	quotas          *quota.Ledger
	quotaController *controller.Controller

	resolver    *route.Resolver
	connections *route.Connections
	bootstrap   *authz.Bootstrap
	authorizer  *authz.Authorizer
	// tokens issues tokens of service accounts.
	tokens kubeserviceaccount.TokenGenerator
	// system are the definitions that every cluster has, builtins the built-in groups.
	system      catalog.Source
	builtins    *discovery.Builtins
	catalog     *catalog.Catalog
	kinds       *catalog.Kinds
	discovery   *discovery.Discovery
	openapi     *openapi.OpenAPI
	controllers []*controller.Controller
	// configurations are the webhooks and admission policies of all clusters.
	configurations *configurations.Index
	// garbage collects what has lost its owners.
	garbage *garbagecollector.Collector
	// listeners hear of the objects of all resources.
	listeners []controller.Listener
	// groups are the registries of the built-in groups.
	groups  *builtin.Groups
	generic *genericapiserver.GenericAPIServer

	ready chan struct{}
	// background are the goroutines of the controllers.
	background sync.WaitGroup
	closeOnce  sync.Once
}

// New assembles a server and starts its etcd. The caller calls Run, which ends what New
// has started, or Close. ctx bounds the start of etcd only. The listener is the
// server's from now on, also if there is an error.
func New(ctx context.Context, prepared *options.Prepared) (*Server, error) {
	s := &Server{options: prepared, connections: route.NewConnections(), builtins: &discovery.Builtins{}, configurations: configurations.NewIndex(), ready: make(chan struct{})}
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

// Run serves until ctx ends, then lets requests finish and stops everything. It may be
// called once.
func (s *Server) Run(ctx context.Context) error {
	defer s.Close()
	// It may end by itself, with an error; what waits for the end has to hear of that.
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	prepared := s.generic.PrepareRun()
	s.background.Go(func() { s.announceReady(ctx) })
	s.background.Go(func() { s.endWatches(ctx) })
	err := prepared.RunWithContext(ctx)
	stop()
	s.background.Wait()
	return err
}

// endWatches ends what runs for long when ctx has ended and the time is over that the
// options leave it. Stopping waits for all other requests, and would for these.
func (s *Server) endWatches(ctx context.Context) {
	<-ctx.Done()
	time.Sleep(s.options.Shutdown.Delay + s.options.Shutdown.WatchGracePeriod)
	s.connections.Close()
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
		s.configurations.Close()
		s.layer.Close()
	})
}

func (s *Server) openStorage(ctx context.Context) (err error) {
	etcd := s.options.Etcd
	anchor := &storage.Anchor{Resource: cached.LogicalClusters, Name: corev1alpha1.LogicalClusterName}
	if etcd.Embedded {
		s.layer, err = storage.StartEmbedded(ctx, storage.EmbeddedOptions{
			Directory:         etcd.Directory,
			Prefix:            etcd.Prefix,
			Anchor:            anchor,
			WALSizeBytes:      etcd.WALSizeBytes,
			QuotaBackendBytes: etcd.QuotaBackendBytes,
			ForceNewCluster:   etcd.ForceNewCluster,
		})
	} else {
		s.layer, err = storage.Dial(ctx, storage.ExternalOptions{
			Servers:  etcd.Servers,
			Prefix:   etcd.Prefix,
			Anchor:   anchor,
			CAFile:   etcd.CAFile,
			CertFile: etcd.CertFile,
			KeyFile:  etcd.KeyFile,
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
	s.definitions = cached.NewDefinitionReader(s.layer)
	s.resolver = route.NewResolver(s.workspaces)
	s.limitObjects()
	s.buildQuotas()
	return nil
}

func clusterOf(r *http.Request) (string, bool) {
	cluster, ok := logicalcluster.FromContext(r.Context())
	return cluster.String(), ok
}
