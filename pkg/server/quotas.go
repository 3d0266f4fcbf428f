package server

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/forkless/kcp/internal/controllers/resourcequota"
	"github.com/forkless/kcp/internal/quota"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/storage/cached"
	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/server/options"
)

// buildQuotas makes what keeps account of resource quotas, for admission and for the
// controller.
func (s *Server) buildQuotas() {
	var measures quota.Measures
	if s.options.Batteries.Has(options.WorkloadTypesBattery) {
		measures = quota.Workloads()
	}
	s.quotas = quota.NewLedger(quotaStore{cached.NewQuotaStore(s.layer), s}, measures, func(key quota.Key) {
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

// List lists objects of a resource.
func (q quotaStore) List(ctx context.Context, cluster logicalcluster.Name, namespace string, resource schema.GroupResource) ([]runtime.Object, int64, error) {
	// What is measured is served in this version only.
	registry, err := q.server.registry(cluster, resource.WithVersion("v1"))
	if err != nil {
		return nil, 0, err
	}
	lister, ok := registry.(rest.Lister)
	if !ok {
		return nil, 0, fmt.Errorf("%s cannot be listed", resource)
	}
	list, err := lister.List(request.WithNamespace(logicalcluster.NewContext(ctx, cluster), namespace), &internalversion.ListOptions{})
	if err != nil {
		return nil, 0, err
	}
	accessor, err := meta.ListAccessor(list)
	if err != nil {
		return nil, 0, err
	}
	revision, err := strconv.ParseInt(accessor.GetResourceVersion(), 10, 64)
	if err != nil {
		return nil, 0, fmt.Errorf("the version of a list: %w", err)
	}
	objects, err := meta.ExtractList(list)
	return objects, revision, err
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
