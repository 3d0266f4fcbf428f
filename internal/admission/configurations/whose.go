package configurations

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"

	"github.com/forkless/kcp/internal/admission/request"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Bound knows where bound resources come from.
type Bound interface {
	// BoundFrom returns the export that a resource of a cluster is bound from. ok is false
	// if the resource is not bound.
	BoundFrom(in logicalcluster.Name, resource schema.GroupResource) (cluster logicalcluster.Name, name string, ok bool)
}

// Whose returns the cluster whose configurations apply to a request: that of the export
// if the resource is bound, otherwise that of the request. The objects, the namespaces
// they are in and the permissions of the caller are those of the request all the same.
func (x *Index) Whose(ctx context.Context, a admission.Attributes) (logicalcluster.Name, error) {
	here, err := request.Cluster(ctx)
	if err != nil || x.bound == nil {
		return here, err
	}
	if provider, _, ok := x.bound.BoundFrom(here, a.GetResource().GroupResource()); ok {
		return provider, nil
	}
	return here, nil
}
