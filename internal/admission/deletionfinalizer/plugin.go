package deletionfinalizer

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"

	"github.com/forkless/kcp/internal/admission/request"
	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
)

// The instances of the plugin.
var (
	// LogicalClusters keep their content until it is deleted.
	LogicalClusters = Rule{
		Name:      "tenancy.kcp.io/LogicalClusterDeletionFinalizer",
		Resource:  corev1alpha1.Resource("logicalclusters"),
		Finalizer: corev1alpha1.DeletionFinalizer,
	}
	// APIBindings keep the instances of what they bind.
	APIBindings = Rule{
		Name:      "apis.kcp.io/APIBindingDeletionFinalizer",
		Resource:  apisv1alpha2.Resource("apibindings"),
		Finalizer: apisv1alpha1.APIBindingFinalizer,
	}
)

// Rule says which finalizer the objects of a resource have.
type Rule struct {
	// Name is that of the plugin.
	Name string
	// Resource is the resource that is looked at.
	Resource schema.GroupResource
	// Finalizer is what the system removes at the end.
	Finalizer string
}

// Plugin is the plugin.
type Plugin struct {
	*admission.Handler
	rule Rule
}

var (
	_ admission.MutationInterface   = &Plugin{}
	_ admission.ValidationInterface = &Plugin{}
)

// New returns the plugin for a resource.
func New(rule Rule) *Plugin {
	return &Plugin{Handler: admission.NewHandler(admission.Create, admission.Update), rule: rule}
}

// Admit puts the finalizer on what is not being deleted.
func (p *Plugin) Admit(_ context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if !p.concerns(a) {
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
	if finalizers := object.GetFinalizers(); !deleting && !slices.Contains(finalizers, p.rule.Finalizer) {
		object.SetFinalizers(append(finalizers, p.rule.Finalizer))
	}
	return nil
}

// Validate checks that the finalizer is there, or that it may go.
func (p *Plugin) Validate(_ context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if !p.concerns(a) {
		return nil
	}
	object, err := meta.Accessor(a.GetObject())
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	if p.has(object) {
		return nil
	}
	deleting, err := isDeleting(a)
	switch {
	case err != nil:
		return err
	case !deleting:
		return request.Denied(a, "finalizer %s is required", p.rule.Finalizer)
	case request.Privileged(a):
		return nil
	}
	old, err := meta.Accessor(a.GetOldObject())
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	if p.has(old) {
		return request.Denied(a, "removing the finalizer %s is forbidden: it is removed by the system when the content is gone", p.rule.Finalizer)
	}
	return nil
}

// concerns leaves subresources alone: they cannot change metadata.
func (p *Plugin) concerns(a admission.Attributes) bool {
	return a.GetResource().GroupResource() == p.rule.Resource && a.GetSubresource() == ""
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

func (p *Plugin) has(object metav1.Object) bool {
	return slices.Contains(object.GetFinalizers(), p.rule.Finalizer)
}
