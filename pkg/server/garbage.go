package server

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/controllers/garbagecollector"
	"github.com/forkless/kcp/internal/storage/cached"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

func (s *Server) garbageCollector() (*controller.Controller, error) {
	s.garbage = garbagecollector.New(garbagecollector.Config{
		Layer:      s.layer,
		Kinds:      s.kinds,
		OpenStore:  s.openStore,
		Namespaces: cached.NewNamespaceReader(s.layer),
		EventTTL:   uint64(s.options.EventTTL() / time.Second),
		Clock:      clock.RealClock{},
	})
	s.listeners = append(s.listeners, s.garbage.Graph)
	return s.garbage.Controller, nil
}

// kindsChanged tells those who wait for kinds to appear in a cluster, and those who look
// at how their objects are stored.
func (s *Server) kindsChanged(cluster logicalcluster.Name) {
	s.garbage.Graph.KindsChanged(cluster)
	s.migration.DefinitionsChanged(cluster)
	if s.mounts != nil {
		s.mounts.index.KindsChanged(cluster)
	}
}

// openingTimeout is how long opening a store is tried, and openingRetry how often.
const (
	openingTimeout = 10 * time.Second
	openingRetry   = 100 * time.Millisecond
)

// openHolding opens the stores of the custom resources of which there are objects, so
// that the listeners hear of them. Others are opened by the first request for them. Nobody
// waits for it to be ready: it asks etcd for one key a resource.
func (s *Server) openHolding(ctx context.Context) {
	// Controllers have looked at everything, so the catalog knows all definitions.
	for _, resource := range s.catalog.Resources() {
		var failed error
		err := wait.PollUntilContextTimeout(ctx, openingRetry, openingTimeout, true, func(ctx context.Context) (bool, error) {
			var holds bool
			if holds, failed = s.layer.Holds(ctx, resource); holds {
				failed = s.openStore(resource)
			}
			return failed == nil, nil
		})
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			klog.FromContext(ctx).Error(failed, "Opening what holds objects: its owners and dependents are not collected until it is used", "resource", resource.Prefix())
		}
	}
	s.garbage.AllOpen()
}
