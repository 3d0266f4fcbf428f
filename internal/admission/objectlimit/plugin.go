package objectlimit

import (
	"context"

	"k8s.io/apiserver/pkg/admission"

	"github.com/forkless/kcp/internal/admission/request"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Name of the plugin.
const Name = "core.kcp.io/LogicalClusterObjectCountLimit"

// Counter knows how many objects clusters hold.
type Counter interface {
	// ObjectCount returns the number of a cluster. counted is false if nobody counts,
	// because nobody is limited.
	ObjectCount(ctx context.Context, cluster logicalcluster.Name) (count int64, counted bool, err error)
}

// Plugin is the plugin.
type Plugin struct {
	*admission.Handler
	limits  Limits
	counter Counter
}

var _ admission.ValidationInterface = &Plugin{}

// New returns the plugin.
func New(limits Limits, counter Counter) *Plugin {
	return &Plugin{Handler: admission.NewHandler(admission.Create), limits: limits, counter: counter}
}

// Validate refuses to create objects in a cluster that holds as many as it may. That
// there is room now does not mean that there is when the object is stored.
func (p *Plugin) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if a.GetSubresource() != "" || isReview(a) || exempt(a.GetResource().GroupResource(), a.GetName()) {
		return nil
	}
	cluster, err := request.Cluster(ctx)
	if err != nil {
		return err
	}
	count, counted, err := p.counter.ObjectCount(ctx, cluster)
	if err != nil {
		return request.Failed(a, err)
	}
	if !counted {
		return nil
	}
	limit, limited, err := p.limits.Of(ctx, cluster)
	if err != nil {
		return request.Failed(a, err)
	}
	if limited && count >= limit {
		return request.Denied(a, "%w", storage.LimitReached{Cluster: cluster, Count: count, Limit: limit})
	}
	return nil
}

// isReview says whether a request asks something: nothing of it is stored.
func isReview(a admission.Attributes) bool {
	group := a.GetResource().Group
	return group == "authentication.k8s.io" || group == "authorization.k8s.io"
}
