package workspace

import (
	"context"

	"k8s.io/apiserver/pkg/admission"

	"github.com/forkless/kcp/internal/admission/request"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

func (p *Plugin) validateCreate(ctx context.Context, a admission.Attributes, ws *tenancyv1alpha1.Workspace) error {
	parent, err := p.parent(ctx, a)
	if err != nil {
		return err
	}
	if err := checkCreateAnnotations(a, ws, parent); err != nil {
		return err
	}
	if !request.Privileged(a) {
		if ws.Spec.Cluster != "" {
			return request.Denied(a, "spec.cluster is set by the system, leave it out")
		}
		if ws.Spec.URL != "" {
			return request.Denied(a, "spec.URL is set by the system, leave it out")
		}
	}
	return validateNewMount(a, ws)
}

func validateNewMount(a admission.Attributes, ws *tenancyv1alpha1.Workspace) error {
	if ws.Spec.Mount == nil {
		return nil
	}
	ref := ws.Spec.Mount.Reference
	for _, field := range []struct{ name, value string }{
		{"kind", ref.Kind}, {"name", ref.Name}, {"apiVersion", ref.APIVersion},
	} {
		if field.value == "" {
			return request.Denied(a, "spec.mount.ref.%s must be set", field.name)
		}
	}
	if ws.Spec.Type != nil && !request.Privileged(a) {
		return request.Denied(a, "spec.type cannot be set together with spec.mount: a mounted workspace has no type")
	}
	return nil
}

func validateUpdate(a admission.Attributes, old, ws *tenancyv1alpha1.Workspace) error {
	if a.GetSubresource() == "" {
		if err := validateSpecUpdate(a, old, ws); err != nil {
			return err
		}
		if !request.Privileged(a) {
			if err := checkAnnotations(a, ws, old.Annotations[ownerKey], old.Annotations); err != nil {
				return err
			}
		}
	}
	// A mounted workspace has no cluster, and its URL comes with the mount.
	becameReady := old.Status.Phase != corev1alpha1.PhaseReady && ws.Status.Phase == corev1alpha1.PhaseReady
	if becameReady && ws.Spec.Mount == nil {
		if ws.Spec.Cluster == "" {
			return request.Denied(a, "status.phase cannot be Ready while spec.cluster is not set")
		}
		if ws.Spec.URL == "" {
			return request.Denied(a, "status.phase cannot be Ready while spec.URL is not set")
		}
	}
	return nil
}

func validateSpecUpdate(a admission.Attributes, old, ws *tenancyv1alpha1.Workspace) error {
	if old.Spec.Mount != nil || ws.Spec.Mount != nil {
		return validateMountUpdate(a, old, ws)
	}
	if !equal(old.Spec.Type, ws.Spec.Type) {
		return request.Denied(a, "spec.type is immutable")
	}
	if old.Spec.Cluster != "" && old.Spec.Cluster != ws.Spec.Cluster {
		return request.Denied(a, "spec.cluster is immutable")
	}
	if old.Spec.URL != "" && ws.Spec.URL == "" {
		return request.Denied(a, "spec.URL cannot be unset")
	}
	if request.Privileged(a) {
		return nil
	}
	if old.Spec.Cluster != ws.Spec.Cluster {
		return request.Denied(a, "spec.cluster is set by the system")
	}
	if old.Spec.URL != ws.Spec.URL {
		return request.Denied(a, "spec.URL is set by the system")
	}
	return nil
}

// validateMountUpdate does not look at cluster and URL: those of a mounted workspace
// follow what is mounted.
func validateMountUpdate(a admission.Attributes, old, ws *tenancyv1alpha1.Workspace) error {
	if !equal(old.Spec.Mount, ws.Spec.Mount) {
		return request.Denied(a, "spec.mount is immutable")
	}
	if ws.Spec.Type != nil && !equal(old.Spec.Type, ws.Spec.Type) {
		return request.Denied(a, "spec.type cannot be set together with spec.mount: a mounted workspace has no type")
	}
	return nil
}

// equal says whether both are nil or both point at the same value.
func equal[T comparable](a, b *T) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}
