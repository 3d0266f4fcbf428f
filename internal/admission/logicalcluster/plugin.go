package logicalcluster

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/admission"

	"github.com/forkless/kcp/internal/admission/request"
	"github.com/forkless/kcp/internal/authn/identity"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
)

// Name of the plugin.
const Name = "core.kcp.io/LogicalCluster"

// Plugin is the plugin.
type Plugin struct{ *admission.Handler }

var (
	_ admission.MutationInterface   = &Plugin{}
	_ admission.ValidationInterface = &Plugin{}
)

// New returns the plugin.
func New() *Plugin {
	return &Plugin{admission.NewHandler(admission.Create, admission.Update, admission.Delete)}
}

// exempt says whether the caller is one of those who make logical clusters.
func exempt(a admission.Attributes) bool {
	return request.InGroup(a, identity.Masters, identity.LogicalClusterAdmin,
		identity.ExternalLogicalClusterAdmin, identity.WorkspaceBootstrapper)
}

func concerns(a admission.Attributes) bool {
	return a.GetResource().GroupResource() == corev1alpha1.Resource("logicalclusters")
}

// Admit copies initializers and terminators from the spec to the status when the
// logical cluster begins to be initialized.
func (p *Plugin) Admit(_ context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if !concerns(a) || a.GetOperation() != admission.Update {
		return nil
	}
	lc, err := request.As[corev1alpha1.LogicalCluster](a.GetObject())
	if err != nil {
		return nil //nolint:nilerr // because it will not pass the schema, which says better why
	}
	old, err := request.As[corev1alpha1.LogicalCluster](a.GetOldObject())
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	if !beginsInitializing(old, lc) {
		return nil
	}
	if err := request.SetStrings(a.GetObject(), lc.Spec.Initializers, "status", "initializers"); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	if err := request.SetStrings(a.GetObject(), lc.Spec.Terminators, "status", "terminators"); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	return nil
}

// Validate checks what callers other than the system do.
func (p *Plugin) Validate(_ context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if !concerns(a) || exempt(a) {
		return nil
	}
	switch a.GetOperation() {
	case admission.Create:
		return request.Denied(a, "LogicalCluster cannot be created")
	case admission.Delete:
		return validateDelete(a)
	default:
		return validateUpdate(a)
	}
}

func validateDelete(a admission.Attributes) error {
	old, err := request.As[corev1alpha1.LogicalCluster](a.GetOldObject())
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	if !old.Spec.DirectlyDeletable {
		return request.Denied(a, "LogicalCluster cannot be deleted, delete the workspace instead")
	}
	return nil
}

func beginsInitializing(old, lc *corev1alpha1.LogicalCluster) bool {
	return old.Status.Phase != corev1alpha1.PhaseInitializing && lc.Status.Phase == corev1alpha1.PhaseInitializing
}
