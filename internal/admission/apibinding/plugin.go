package apibinding

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"

	"github.com/forkless/kcp/internal/admission/bind"
	"github.com/forkless/kcp/internal/admission/request"
	"github.com/forkless/kcp/internal/apiversions"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
)

// Name of the plugin.
const Name = "apis.kcp.io/APIBinding"

// Plugin is the plugin.
type Plugin struct {
	*admission.Handler
	access bind.Access
}

var (
	_ admission.MutationInterface   = &Plugin{}
	_ admission.ValidationInterface = &Plugin{}
)

// New returns the plugin.
func New(access bind.Access) *Plugin {
	return &Plugin{Handler: admission.NewHandler(admission.Create, admission.Update), access: access}
}

// Admit sets the labels that name the export.
func (p *Plugin) Admit(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if !concerns(a) || a.GetSubresource() != "" {
		return nil
	}
	keepStatusAnnotations(a.GetObject(), a.GetOldObject())
	u, binding, err := read(a.GetObject())
	if err != nil || binding.Spec.Reference.Export == nil {
		return nil //nolint:nilerr // because what cannot be read will be refused, with better words
	}
	export := binding.Spec.Reference.Export
	old, err := readOld(a)
	if err != nil {
		return err
	}
	target, err := p.access.Find(ctx, export.Path, export.Name)
	if err != nil {
		return request.Failed(a, err)
	}
	setLabels(u, wantedLabels(target, old))
	return nil
}

// Validate checks a new or changed binding.
func (p *Plugin) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if !concerns(a) {
		return nil
	}
	u, binding, err := read(a.GetObject())
	if err != nil {
		return request.Denied(a, "%w", err)
	}
	old, err := readOld(a)
	if err != nil {
		return err
	}
	if old != nil && old.Status.Phase != "" && binding.Status.Phase == "" {
		return request.Denied(a, "status.phase: cannot transition from %q to %q", old.Status.Phase, binding.Status.Phase)
	}
	if a.GetSubresource() != "" {
		return nil
	}
	if err := validate(binding).ToAggregate(); err != nil {
		return request.Denied(a, "%w", err)
	}
	if err := validateUpdate(binding, old); err != nil {
		return err
	}
	export := binding.Spec.Reference.Export
	target, err := p.access.Find(ctx, export.Path, export.Name)
	if err != nil {
		return request.Failed(a, err)
	}
	metadata := append(checkLabels(u, wantedLabels(target, old)), checkStatusAnnotations(u, a.GetOldObject())...)
	if err := metadata.ToAggregate(); err != nil {
		return request.Denied(a, "%w", err)
	}
	if !needsPermission(binding, old) {
		return nil
	}
	return p.access.Check(ctx, a, "APIBinding", export.Path, export.Name, target)
}

func concerns(a admission.Attributes) bool {
	return a.GetResource().GroupResource() == apisv1alpha2.Resource("apibindings")
}

// read returns a binding of either version in both forms.
func read(obj runtime.Object) (*unstructured.Unstructured, *apisv1alpha2.APIBinding, error) {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return nil, nil, apierrors.NewBadRequest("a binding has to be an unstructured object")
	}
	binding, err := apiversions.Binding(u)
	return u, binding, err
}

// readOld returns the stored binding, nil for a new one.
func readOld(a admission.Attributes) (*apisv1alpha2.APIBinding, error) {
	if a.GetOperation() == admission.Create {
		return nil, nil
	}
	_, binding, err := read(a.GetOldObject())
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return binding, nil
}
