package configurations

import (
	"context"

	"k8s.io/apiserver/pkg/admission"

	"github.com/forkless/kcp/internal/admission/request"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Whose returns the cluster whose configurations apply to a request: that of the
// request. Params and namespaces are those of the same cluster.
func Whose(ctx context.Context, _ admission.Attributes) (logicalcluster.Name, error) {
	return request.Cluster(ctx)
}
