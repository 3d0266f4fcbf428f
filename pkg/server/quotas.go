package server

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/internal/controllers/resourcequota"
	"github.com/forkless/kcp/internal/quota"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/storage/cached"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// buildQuotas makes what keeps account of resource quotas, for admission and for the
// controller.
func (s *Server) buildQuotas() {
	s.quotas = quota.NewLedger(quotaStore{cached.NewQuotaStore(s.layer), s}, func(key quota.Key) {
		resourcequota.Enqueue(s.quotaController, key)
	})
	s.layer.ObserveCreates(func(cluster logicalcluster.Name, resource schema.GroupResource, object storage.ObjectName, revision int64) {
		s.quotas.Settled(cluster, resource, quota.Object(object), revision)
	})
	s.quotaController = resourcequota.New(s.quotas)
	s.listeners = append(s.listeners, resourcequota.NewListener(s.quotas, s.quotaController))
}

// quotaStore is a quota.Store.
type quotaStore struct {
	cached.QuotaStore
	server *Server
}

// Count counts objects of a resource.
func (q quotaStore) Count(ctx context.Context, cluster logicalcluster.Name, namespace string, resource schema.GroupResource, look []quota.Object) (count int64, found []bool, revision int64, err error) {
	names := make([]storage.ObjectName, len(look))
	for i, object := range look {
		names[i] = storage.ObjectName(object)
	}
	return q.server.layer.Stored(ctx, cluster, namespace, q.server.storesOf(cluster, resource), names)
}

// storesOf returns where the objects of a resource of a cluster may be. It does not rely
// on what is served: at the start definitions are not known yet, while their objects are
// there.
func (s *Server) storesOf(cluster logicalcluster.Name, resource schema.GroupResource) []storage.Resource {
	stores := []storage.Resource{
		{GroupResource: resource},
		{GroupResource: resource, Identity: storage.CustomResources},
	}
	add := func(store storage.Resource) {
		if store.GroupResource == resource && !slices.Contains(stores, store) {
			stores = append(stores, store)
		}
	}
	for _, kind := range s.kinds.All(cluster) {
		add(kind.Store)
	}
	for _, store := range s.layer.Opened() {
		add(store)
	}
	return stores
}
