package resourcequota

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"

	"github.com/forkless/kcp/internal/admission/request"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Name of the plugin.
const Name = "KCPKubeResourceQuota"

// Ledger charges objects to quotas.
type Ledger interface {
	// Measured says whether a change of an object of a resource may use more.
	Measured(resource schema.GroupResource) bool
	// Charge charges the object of a request in a cluster: one that creates it or, where
	// that is measured, another. The error is the Status with which the request is refused.
	Charge(ctx context.Context, cluster logicalcluster.Name, a admission.Attributes) error
}

// Plugin is the plugin.
type Plugin struct {
	*admission.Handler
	ledger Ledger
}

var _ admission.ValidationInterface = &Plugin{}

// New returns the plugin.
func New(ledger Ledger) *Plugin {
	return &Plugin{Handler: admission.NewHandler(admission.Create, admission.Update), ledger: ledger}
}

// Validate charges what is created, and what is measured. Subresources that are created,
// such as tokens, are no objects.
func (p *Plugin) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if (a.GetOperation() != admission.Create || a.GetSubresource() != "") && !p.ledger.Measured(a.GetResource().GroupResource()) {
		return nil
	}
	cluster, err := request.Cluster(ctx)
	if err != nil {
		return err
	}
	return p.ledger.Charge(ctx, cluster, a)
}
