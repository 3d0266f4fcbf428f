package workspace

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/admission"

	"github.com/forkless/kcp/internal/admission/request"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/tenancy"
)

// Name of the plugin.
const Name = "tenancy.kcp.io/Workspace"

// Plugin is the plugin.
type Plugin struct {
	*admission.Handler
	clusters tenancy.Clusters
}

var (
	_ admission.MutationInterface   = &Plugin{}
	_ admission.ValidationInterface = &Plugin{}
)

// New returns the plugin.
func New(clusters tenancy.Clusters) *Plugin {
	return &Plugin{
		Handler:  admission.NewHandler(admission.Create, admission.Update),
		clusters: clusters,
	}
}

// Admit sets the finalizer, and the annotations that tell the creator and the required
// groups.
func (p *Plugin) Admit(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if !isWorkspace(a) || a.GetSubresource() != "" {
		return nil
	}
	if err := hold(a); err != nil {
		return err
	}
	if a.GetOperation() == admission.Create {
		return p.annotate(ctx, a)
	}
	if !request.Privileged(a) {
		return keepAnnotations(a)
	}
	return nil
}

// Validate checks what a caller may say.
func (p *Plugin) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if !isWorkspace(a) {
		return nil
	}
	ws, err := request.As[tenancyv1alpha1.Workspace](a.GetObject())
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	if a.GetOperation() == admission.Create {
		return p.validateCreate(ctx, a, ws)
	}
	old, err := request.As[tenancyv1alpha1.Workspace](a.GetOldObject())
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	return validateUpdate(a, old, ws)
}

func isWorkspace(a admission.Attributes) bool {
	return a.GetResource().GroupResource() == tenancyv1alpha1.Resource("workspaces")
}

// parent returns the LogicalCluster that a new workspace is in.
func (p *Plugin) parent(ctx context.Context, a admission.Attributes) (*corev1alpha1.LogicalCluster, error) {
	cluster, err := request.Cluster(ctx)
	if err != nil {
		return nil, err
	}
	lc, err := p.clusters.Get(ctx, cluster)
	switch {
	case apierrors.IsNotFound(err):
		return nil, request.Denied(a, "workspaces cannot be created here: there is no logical cluster")
	case err != nil:
		return nil, request.Failed(a, err)
	case !lc.DeletionTimestamp.IsZero():
		// Its deletion deletes what is in it, and would run after it for ever.
		return nil, request.Denied(a, "workspaces cannot be created here: this workspace is being deleted")
	}
	return lc, nil
}
