package cached

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kubernetes/pkg/apis/core"
	coreconversion "k8s.io/kubernetes/pkg/apis/core/v1"

	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// ResourceQuotas is the resource of quotas.
var ResourceQuotas = storage.Resource{GroupResource: schema.GroupResource{Resource: "resourcequotas"}}

// QuotaStore reads and writes resource quotas, as they are in etcd.
type QuotaStore struct {
	layer  *storage.Layer
	reader *storage.Reader[core.ResourceQuota, *core.ResourceQuota, *core.ResourceQuotaList]
}

// NewQuotaStore returns a store over layer.
func NewQuotaStore(layer *storage.Layer) QuotaStore {
	return QuotaStore{layer, storage.NewReader[core.ResourceQuota](layer, ResourceQuotas,
		func() *core.ResourceQuotaList { return &core.ResourceQuotaList{} },
		func(l *core.ResourceQuotaList) []core.ResourceQuota { return l.Items })}
}

// Get returns a quota, or a NotFound Status error. It belongs to the caller.
func (s QuotaStore) Get(ctx context.Context, cluster logicalcluster.Name, namespace, name string) (*corev1.ResourceQuota, error) {
	stored, err := s.reader.GetCurrent(ctx, cluster, namespace, name)
	if err != nil {
		return nil, err
	}
	return Quota(stored)
}

// Quota returns a quota as the API shows it. It may share memory with the one that is
// given.
func Quota(stored *core.ResourceQuota) (*corev1.ResourceQuota, error) {
	q := &corev1.ResourceQuota{}
	return q, coreconversion.Convert_core_ResourceQuota_To_v1_ResourceQuota(stored, q, nil)
}

// UpdateStatus writes quotas that differ from what is stored in their status, all or
// none, and gives them their new versions. If one is not stored at its version the error
// is a Conflict Status.
func (s QuotaStore) UpdateStatus(ctx context.Context, cluster logicalcluster.Name, quotas ...*corev1.ResourceQuota) error {
	batch := s.layer.NewBatch()
	for _, q := range quotas {
		wanted := &core.ResourceQuota{}
		if err := coreconversion.Convert_v1_ResourceQuota_To_core_ResourceQuota(q, wanted, nil); err != nil {
			return err
		}
		batch.Update(ResourceQuotas, cluster, wanted)
	}
	err := batch.Commit(ctx)
	if errors.Is(err, storage.ErrBatchConflict) {
		return apierrors.NewConflict(ResourceQuotas.GroupResource, quotas[0].Name, err)
	}
	if err != nil {
		return err
	}
	for _, q := range quotas {
		q.ResourceVersion = batch.ResourceVersion()
	}
	return nil
}
