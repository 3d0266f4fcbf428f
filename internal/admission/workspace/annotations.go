package workspace

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"

	"github.com/forkless/kcp/internal/admission/request"
	"github.com/forkless/kcp/internal/authn/identity"
	"github.com/forkless/kcp/internal/tenancy/owners"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

const (
	ownerKey          = tenancyv1alpha1.OwnerAnnotationKey
	requiredGroupsKey = tenancyv1alpha1.RequiredGroupsAnnotationKey
)

// annotate fills in the annotations of a new workspace.
func (p *Plugin) annotate(ctx context.Context, a admission.Attributes) error {
	parent, err := p.parent(ctx, a)
	if err != nil {
		return err
	}
	object, err := meta.Accessor(a.GetObject())
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	privileged := request.Privileged(a)
	if !privileged {
		owner, err := ownerOf(a)
		if err != nil {
			return err
		}
		copyAnnotation(object, map[string]string{ownerKey: owner}, ownerKey)
	}
	if _, set := object.GetAnnotations()[requiredGroupsKey]; !set || !privileged {
		copyAnnotation(object, parent.Annotations, requiredGroupsKey)
	}
	return nil
}

// keepAnnotations undoes what the caller did to the annotations. They become part of
// the logical cluster, where they stand for the identity of the creator.
func keepAnnotations(a admission.Attributes) error {
	object, err := meta.Accessor(a.GetObject())
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	old, err := meta.Accessor(a.GetOldObject())
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	for _, key := range []string{ownerKey, requiredGroupsKey} {
		copyAnnotation(object, old.GetAnnotations(), key)
	}
	return nil
}

// checkAnnotations sees to it that nothing that ran after annotate or keepAnnotations
// has changed their work.
func checkAnnotations(a admission.Attributes, ws *tenancyv1alpha1.Workspace, owner string, groupsFrom map[string]string) error {
	if ws.Annotations[ownerKey] != owner {
		return request.Denied(a, "annotation %s must be %q", ownerKey, owner)
	}
	got, set := ws.Annotations[requiredGroupsKey]
	if want, wanted := groupsFrom[requiredGroupsKey]; got != want || set != wanted {
		return request.Denied(a, "annotation %s cannot be chosen, leave it out", requiredGroupsKey)
	}
	return nil
}

// checkCreateAnnotations checks the annotations of a new workspace.
func checkCreateAnnotations(a admission.Attributes, ws *tenancyv1alpha1.Workspace, parent *corev1alpha1.LogicalCluster) error {
	if request.Privileged(a) {
		// It has to be readable: the workspace would never get ready otherwise.
		if owner, set := ws.Annotations[ownerKey]; set {
			if _, err := owners.Decode(owner); err != nil {
				return request.Denied(a, "annotation %s must be the JSON of a user: %w", ownerKey, err)
			}
		}
		return nil
	}
	owner, err := ownerOf(a)
	if err != nil {
		return err
	}
	return checkAnnotations(a, ws, owner, parent.Annotations)
}

func ownerOf(a admission.Attributes) (string, error) {
	if a.GetUserInfo() == nil {
		return "", apierrors.NewInternalError(fmt.Errorf("creating a workspace without a user"))
	}
	// That he acts for an initializer or a terminator is so for this request only.
	owner, err := owners.Encode(identity.DropGroups(a.GetUserInfo(), identity.IsLifecycleGroup))
	if err != nil {
		return "", apierrors.NewInternalError(err)
	}
	return owner, nil
}

// copyAnnotation makes the annotation key of object what it is in from, absence
// included.
func copyAnnotation(object metav1.Object, from map[string]string, key string) {
	annotations := object.GetAnnotations()
	value, ok := from[key]
	switch {
	case !ok:
		delete(annotations, key)
	case annotations == nil:
		annotations = map[string]string{key: value}
	default:
		annotations[key] = value
	}
	object.SetAnnotations(annotations)
}
