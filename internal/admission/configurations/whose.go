package configurations

import (
	"context"

	"k8s.io/apiserver/pkg/admission"

	"github.com/forkless/kcp/internal/admission/request"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Whose returns the cluster whose configurations apply to a request: that of the
// request. Instances read namespaces, and ask the authorizer, in this cluster too.
func Whose(ctx context.Context, _ admission.Attributes) (logicalcluster.Name, error) {
	return request.Cluster(ctx)
}
