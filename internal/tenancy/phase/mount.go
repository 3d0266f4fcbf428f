package phase

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

// mountReady is the phase of an object that can be used.
const mountReady = string(corev1alpha1.PhaseReady)

// MountInput is what is known of a mounted workspace.
type MountInput struct {
	// Observed is the Workspace as stored, with a mount. It is not changed.
	Observed *tenancyv1alpha1.Workspace

	// Object is the status of the object that is mounted, nil if there is none.
	Object *MountObject

	// Refused says why the address in Object must not be followed; nil if it may be.
	Refused error

	// Now is the time of conditions that change.
	Now metav1.Time
}

// MountObject is what the status of a mounted object says.
type MountObject struct {
	// Phase and URL are those of the status, empty if they are missing.
	Phase, URL string
}

// Mount returns a mounted Workspace as it should be: it can be used as long as what it shows
// says that it can. An address that must not be followed does not get into the spec, from
// which clients read where to go.
func Mount(in MountInput) *tenancyv1alpha1.Workspace {
	if !in.Observed.DeletionTimestamp.IsZero() {
		return in.Observed
	}
	ws := in.Observed.DeepCopy()
	conditions.Set(ws, mountCondition(in))
	if in.Object != nil && in.Object.URL != "" && in.Refused == nil && ws.Spec.URL != in.Object.URL {
		ws.Spec.URL = in.Object.URL
		ws.Generation++
	}
	ws.Status.Phase = corev1alpha1.PhaseReady
	if blocked(ws.Status.Conditions) {
		ws.Status.Phase = corev1alpha1.PhaseUnavailable
	}
	if equality.Semantic.DeepEqual(in.Observed, ws) {
		return in.Observed
	}
	return ws
}

// mountCondition says whether what is mounted can be used.
func mountCondition(in MountInput) conditions.Condition {
	ref := in.Observed.Spec.Mount.Reference
	what := fmt.Sprintf("%s %q", ref.Kind, ref.Name)
	if ref.Namespace != "" {
		what += fmt.Sprintf(" in namespace %q", ref.Namespace)
	}
	condition := conditions.Condition{
		Type:               tenancyv1alpha1.WorkspaceMountReady,
		Status:             corev1.ConditionFalse,
		Severity:           conditions.SeverityError,
		Reason:             tenancyv1alpha1.ReasonMountObjectNotReady,
		LastTransitionTime: in.Now,
	}
	switch {
	case in.Object == nil:
		condition.Reason = tenancyv1alpha1.ReasonMountObjectNotFound
		condition.Message = fmt.Sprintf("There is no %s of %s.", what, ref.APIVersion)
	case in.Object.Phase == "":
		condition.Message = what + " has no status.phase."
	case in.Object.Phase != mountReady:
		condition.Message = fmt.Sprintf("%s is in phase %q.", what, in.Object.Phase)
	case in.Object.URL == "":
		condition.Message = what + " has no status.URL."
	case in.Refused != nil:
		condition.Message = fmt.Sprintf("status.URL of %s cannot be used: %s.", what, in.Refused)
	default:
		return conditions.Condition{
			Type: tenancyv1alpha1.WorkspaceMountReady, Status: corev1.ConditionTrue, LastTransitionTime: in.Now,
		}
	}
	return condition
}
