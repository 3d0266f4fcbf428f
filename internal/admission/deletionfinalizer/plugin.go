package deletionfinalizer

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"

	"github.com/forkless/kcp/internal/admission/request"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
)

// Name of the plugin.
const Name = "tenancy.kcp.io/LogicalClusterDeletionFinalizer"

const finalizer = corev1alpha1.DeletionFinalizer

// Plugin is the plugin.
type Plugin struct{ *admission.Handler }

var (
	_ admission.MutationInterface   = &Plugin{}
	_ admission.ValidationInterface = &Plugin{}
)

// New returns the plugin.
func New() *Plugin {
	return &Plugin{admission.NewHandler(admission.Create, admission.Update)}
}

// Admit puts the finalizer on what is not being deleted.
func (p *Plugin) Admit(_ context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if !concerns(a) {
		return nil
	}
	object, err := meta.Accessor(a.GetObject())
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	deleting, err := isDeleting(a)
	if err != nil {
		return err
	}
	if finalizers := object.GetFinalizers(); !deleting && !slices.Contains(finalizers, finalizer) {
		object.SetFinalizers(append(finalizers, finalizer))
	}
	return nil
}

// Validate checks that the finalizer is there, or that it may go.
func (p *Plugin) Validate(_ context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if !concerns(a) {
		return nil
	}
	object, err := meta.Accessor(a.GetObject())
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	if has(object) {
		return nil
	}
	deleting, err := isDeleting(a)
	switch {
	case err != nil:
		return err
	case !deleting:
		return request.Denied(a, "finalizer %s must be there", finalizer)
	case request.Privileged(a):
		return nil
	}
	old, err := meta.Accessor(a.GetOldObject())
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	if has(old) {
		return request.Denied(a, "finalizer %s is removed by the system when the content is gone", finalizer)
	}
	return nil
}

// concerns leaves subresources alone: they cannot change metadata.
func concerns(a admission.Attributes) bool {
	return a.GetResource().GroupResource() == corev1alpha1.Resource("logicalclusters") && a.GetSubresource() == ""
}

// isDeleting looks at the stored object: what a client sends as the time of deletion
// counts for nothing.
func isDeleting(a admission.Attributes) (bool, error) {
	if a.GetOperation() == admission.Create {
		return false, nil
	}
	old, err := meta.Accessor(a.GetOldObject())
	if err != nil {
		return false, apierrors.NewInternalError(err)
	}
	return !old.GetDeletionTimestamp().IsZero(), nil
}

func has(object metav1.Object) bool { return slices.Contains(object.GetFinalizers(), finalizer) }
