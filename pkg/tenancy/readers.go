package tenancy

import (
	"context"

	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Types reads WorkspaceTypes.
type Types interface {
	// Get returns the type of that name in a cluster, or a NotFound Status. The result
	// is shared and must not be changed. It may lag behind what has been written.
	Get(ctx context.Context, cluster logicalcluster.Name, name string) (*tenancyv1alpha1.WorkspaceType, error)
	// GetCurrent is Get without the lag.
	GetCurrent(ctx context.Context, cluster logicalcluster.Name, name string) (*tenancyv1alpha1.WorkspaceType, error)
}

// Clusters reads LogicalClusters.
type Clusters interface {
	// Get returns the LogicalCluster of a cluster, or a NotFound Status. The result is
	// shared and must not be changed.
	Get(ctx context.Context, cluster logicalcluster.Name) (*corev1alpha1.LogicalCluster, error)
}

// Paths finds logical clusters by path.
type Paths interface {
	// Resolve returns the cluster at path, or a NotFound Status. A path of one segment
	// is a cluster name and may be returned without looking whether there is such a
	// cluster.
	Resolve(ctx context.Context, path logicalcluster.Path) (logicalcluster.Name, error)
}
