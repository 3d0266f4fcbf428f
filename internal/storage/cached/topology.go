package cached

import (
	"context"

	"github.com/forkless/kcp/internal/storage"
	topologyv1alpha1 "github.com/forkless/kcp/pkg/apis/topology/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// PartitionReader reads Partitions.
type PartitionReader struct {
	reader *storage.Reader[topologyv1alpha1.Partition, *topologyv1alpha1.Partition, *topologyv1alpha1.PartitionList]
}

// NewPartitionReader returns a reader over layer.
func NewPartitionReader(layer *storage.Layer) PartitionReader {
	return PartitionReader{storage.NewReader[topologyv1alpha1.Partition](layer, Partitions,
		func() *topologyv1alpha1.PartitionList { return &topologyv1alpha1.PartitionList{} },
		func(l *topologyv1alpha1.PartitionList) []topologyv1alpha1.Partition { return l.Items })}
}

// Get returns a Partition of a cluster, or a NotFound Status error.
func (r PartitionReader) Get(ctx context.Context, cluster logicalcluster.Name, name string) (*topologyv1alpha1.Partition, error) {
	return r.reader.Get(ctx, cluster, "", name)
}
