package apply

import (
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
)

// Bind binds the export of a name in the workspace at path, by a binding of the same name,
// accepts all claims that the export makes, and returns when what it brings can be used.
// It needs no permission to read the export: what it claims is in the binding, once there
// is one.
func (a *Applier) Bind(ctx context.Context, path, export string) error {
	what := fmt.Sprintf("binding %s:%s", path, export)
	bound, err := a.bind(ctx, path, export, nil)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if len(bound.Status.ExportPermissionClaims) == 0 {
		return nil
	}
	if _, err := a.bind(ctx, path, export, bound.Status.ExportPermissionClaims); err != nil {
		return fmt.Errorf("%s: accepting its claims: %w", what, err)
	}
	return nil
}

// bind applies a binding and returns it when it has settled.
func (a *Applier) bind(ctx context.Context, path, export string, claims []apisv1alpha2.PermissionClaim) (*apisv1alpha2.APIBinding, error) {
	object, err := bindingTo(path, export, claims)
	if err != nil {
		return nil, err
	}
	client, err := a.clientFor(ctx, object)
	if err != nil {
		return nil, err
	}
	applied, err := client.Apply(ctx, export, object, metav1.ApplyOptions{FieldManager: fieldManager, Force: true})
	if err != nil {
		return nil, err
	}
	if err := a.settle(ctx, client, applied); err != nil {
		return nil, err
	}
	latest, err := client.Get(ctx, export, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(latest)
	if err != nil {
		return nil, err
	}
	binding := &apisv1alpha2.APIBinding{}
	return binding, json.Unmarshal(raw, binding)
}

// bindingTo returns a binding to an export that accepts the claims.
func bindingTo(path, export string, claims []apisv1alpha2.PermissionClaim) (*unstructured.Unstructured, error) {
	spec := apisv1alpha2.APIBindingSpec{Reference: apisv1alpha2.BindingReference{
		Export: &apisv1alpha2.ExportBindingReference{Path: path, Name: export},
	}}
	for _, c := range claims {
		answer := apisv1alpha2.AcceptablePermissionClaim{State: apisv1alpha2.ClaimAccepted}
		answer.PermissionClaim = *c.DeepCopy()
		answer.DefaultSelector = nil
		answer.Selector = apisv1alpha2.PermissionClaimSelector{MatchAll: true}
		if c.DefaultSelector != nil {
			answer.Selector = *c.DefaultSelector.DeepCopy()
		}
		spec.PermissionClaims = append(spec.PermissionClaims, answer)
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&spec)
	if err != nil {
		return nil, err
	}
	object := &unstructured.Unstructured{Object: map[string]any{"spec": content}}
	object.SetGroupVersionKind(apisv1alpha2.GroupVersion.WithKind("APIBinding"))
	object.SetName(export)
	return object, nil
}
