package server

import (
	"context"
	"fmt"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/wait"
	genericapiserver "k8s.io/apiserver/pkg/server"

	"github.com/forkless/kcp/config/metricsviewer"
	"github.com/forkless/kcp/config/namespace"
	"github.com/forkless/kcp/config/rbac"
	"github.com/forkless/kcp/config/workspacetypes"
	"github.com/forkless/kcp/internal/bootstrap"
	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/storage/cached"
	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/server/options"
)

const (
	cachePoll    = 2 * time.Millisecond
	cacheTimeout = time.Minute
)

// addStartup names what has to happen before the server is ready. /readyz reports the
// same names. The steps wait for each other through the done channels.
func (s *Server) addStartup() error {
	caches, objects := make(chan struct{}), make(chan struct{})
	for _, step := range []struct {
		name string
		run  func(context.Context) error
	}{
		{"kcp-start-informers", func(ctx context.Context) error {
			defer close(caches)
			return s.waitForCaches(ctx)
		}},
		{"kcp-bootstrap-policy", func(ctx context.Context) error {
			defer close(objects)
			if err := waitFor(ctx, caches); err != nil {
				return err
			}
			return s.bootstrapObjects(ctx)
		}},
		{"kcp-start-controllers", func(ctx context.Context) error {
			if err := waitFor(ctx, objects); err != nil {
				return err
			}
			return s.startControllers(ctx)
		}},
	} {
		run := step.run
		err := s.generic.AddPostStartHook(step.name, func(hook genericapiserver.PostStartHookContext) error {
			err := run(hook)
			if hook.Err() == nil {
				return err
			}
			// A step that fails ends the process at once. One that is interrupted, because the
			// server is stopped while it starts, has not failed.
			s.interrupted.Store(true)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func waitFor(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// waitForCaches waits until what is in etcd is in the watch caches.
func (s *Server) waitForCaches(ctx context.Context) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, cachePoll, cacheTimeout, true, func(context.Context) (bool, error) {
		last = s.layer.Ready()
		return last == nil, nil
	})
	if err != nil && last != nil {
		return fmt.Errorf("waiting for the watch caches: %w", last)
	}
	return err
}

// bootstrapObjects writes what has to be there from the start.
func (s *Server) bootstrapObjects(ctx context.Context) error {
	if s.options.Single {
		objects, err := s.singleObjects()
		if err != nil {
			return err
		}
		return bootstrap.Ensure(ctx, s.layer, objects, versioned)
	}
	objects, err := s.wantedObjects()
	if err != nil {
		return err
	}
	shared, err := s.ownExports(ctx)
	if err != nil {
		return err
	}
	if err := bootstrap.Ensure(ctx, s.layer, append(objects, shared...), versioned); err != nil {
		return err
	}
	return s.bindOwn(ctx)
}

func (s *Server) wantedObjects() ([]bootstrap.Object, error) {
	var objects []bootstrap.Object
	add := func(resource storage.Resource, cluster logicalcluster.Name, object runtime.Object) {
		objects = append(objects, bootstrap.Object{Resource: resource, Cluster: cluster, Object: object})
	}
	for _, object := range rbac.SystemAdmin() {
		add(policyResource(object), logicalcluster.SystemAdmin, object)
	}
	for _, object := range rbac.Root(rbac.RootOptions{HomeCreatorGroups: s.options.Homes.Creators()}) {
		add(policyResource(object), logicalcluster.Root, object)
	}
	add(cached.Shards, logicalcluster.Root, ownShard(s.options.Shard.Name, s.options.URLs))
	for _, cluster := range []logicalcluster.Name{logicalcluster.Root, logicalcluster.SystemShard} {
		lc, err := ownCluster(cluster, s.options.URLs.External, s.options.Shard.Name)
		if err != nil {
			return nil, err
		}
		add(cached.LogicalClusters, cluster, lc)
		objects = append(objects, s.namespaceIn(cluster, metav1.NamespaceDefault)...)
	}
	if s.options.Batteries.Has(options.MetricsViewerBattery) {
		add(cached.ClusterRoles, logicalcluster.Root, metricsviewer.ClusterRole())
		add(cached.ClusterRoleBindings, logicalcluster.Root, metricsviewer.ClusterRoleBinding())
		add(cached.ServiceAccounts, logicalcluster.Root, metricsviewer.ServiceAccount())
		add(cached.Secrets, logicalcluster.Root, metricsviewer.Secret())
	}
	for _, name := range []string{metav1.NamespaceDefault, metav1.NamespacePublic, metav1.NamespaceSystem} {
		// Whoever holds leases for the shard holds them there.
		objects = append(objects, s.namespaceIn(logicalcluster.SystemAdmin, name)...)
	}
	types, err := workspacetypes.For(workspacetypes.Choice{
		Batteries:     batteryNames(s.options.Batteries),
		BucketedHomes: s.options.Homes.Buckets() != nil,
	})
	if err != nil {
		return nil, err
	}
	for _, workspaceType := range types {
		add(cached.WorkspaceTypes, logicalcluster.Root, workspaceType)
	}
	return objects, nil
}

// namespaceIn returns a namespace with what every namespace has.
func (s *Server) namespaceIn(cluster logicalcluster.Name, name string) []bootstrap.Object {
	return []bootstrap.Object{
		{Resource: cached.Namespaces, Cluster: cluster, Object: namespace.New(name)},
		{Resource: cached.ServiceAccounts, Cluster: cluster, Object: defaultAccount(name)},
		{Resource: cached.ConfigMaps, Cluster: cluster, Object: namespace.NewRootCA(name, s.rootCA)},
	}
}

func batteryNames(batteries sets.Set[options.Battery]) sets.Set[string] {
	names := sets.New[string]()
	for battery := range batteries {
		names.Insert(string(battery))
	}
	return names
}

// startControllers starts all controllers and waits until they have looked at what is
// there. They go on when ctx has ended, until the requests have that are under way:
// these may wait for what controllers do.
func (s *Server) startControllers(ctx context.Context) error {
	if len(s.listeners) > 0 {
		s.controllerWork.start(ctx, controller.NewFeed(s.layer, s.listeners...).Run)
	}
	for _, c := range s.controllers {
		s.controllerWork.start(ctx, c.Run)
	}
	for _, c := range s.controllers {
		if err := waitFor(ctx, c.Synced()); err != nil {
			return fmt.Errorf("waiting for controller %s: %w", c.Name(), err)
		}
	}
	close(s.settled)
	if s.mounts != nil {
		s.mounts.index.Settle()
	}
	if !s.options.Single {
		if err := s.waitForOwn(ctx); err != nil {
			return err
		}
		if err := s.prepareHomes(ctx); err != nil {
			return err
		}
	}
	s.controllerWork.start(ctx, s.openHolding)
	// Before this requests would wait: no webhook is to be passed by.
	return waitFor(ctx, s.configurations.Synced())
}

// announceReady closes the channel of Ready when /readyz says ok. It asks in process
// and often: hooks that finish tell nobody.
func (s *Server) announceReady(ctx context.Context) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "/readyz", http.NoBody)
	if err != nil {
		return
	}
	err = wait.PollUntilContextCancel(ctx, cachePoll, false, func(context.Context) (bool, error) {
		answer := &statusOnly{header: http.Header{}}
		s.generic.Handler.NonGoRestfulMux.ServeHTTP(answer, request)
		return answer.status == http.StatusOK, nil
	})
	if err == nil && !s.interrupted.Load() {
		close(s.ready)
	}
}

// statusOnly is a response of which only the status is of interest.
type statusOnly struct {
	header http.Header
	status int
}

// Header returns the headers, which nobody reads.
func (s *statusOnly) Header() http.Header { return s.header }

// WriteHeader keeps the status.
func (s *statusOnly) WriteHeader(status int) { s.status = status }

// Write drops the body.
func (s *statusOnly) Write(data []byte) (int, error) {
	if s.status == 0 {
		s.status = http.StatusOK
	}
	return len(data), nil
}
