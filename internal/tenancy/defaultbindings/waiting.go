package defaultbindings

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
)

// Waiting returns what a LogicalCluster has to say about its default bindings until they
// are complete; nil when they are. now is when it began to wait.
func (p *Plan) Waiting(now metav1.Time) *conditions.Condition {
	condition := &conditions.Condition{
		Type: corev1alpha1.APIBindingsInitialized, Status: corev1.ConditionFalse, LastTransitionTime: now.Rfc3339Copy(),
	}
	if len(p.Problems) > 0 {
		condition.Severity, condition.Reason = conditions.SeverityError, corev1alpha1.ReasonAPIBindingErrors
		condition.Message = "Unable to make APIBindings: " + strings.Join(p.Problems, "; ")
		return condition
	}
	waiting := p.incomplete()
	if len(waiting) == 0 {
		return nil
	}
	condition.Severity, condition.Reason = conditions.SeverityInfo, corev1alpha1.ReasonWaitingOnAPIBindings
	condition.Message = "APIBindings are not complete: " + strings.Join(waiting, ", ")
	return condition
}

// incomplete describes the bindings that are not complete, sorted.
func (p *Plan) incomplete() []string {
	var descriptions []string
	for _, made := range p.Bindings {
		if !complete(made.Object) {
			descriptions = append(descriptions, describe(made.Object))
		}
	}
	for _, existing := range p.Existing {
		if !complete(existing) {
			descriptions = append(descriptions, describe(existing))
		}
	}
	slices.Sort(descriptions)
	return descriptions
}

// complete says whether a binding has been bound, and its claims are in force.
func complete(b *apisv1alpha2.APIBinding) bool {
	if !b.DeletionTimestamp.IsZero() || !conditions.IsTrue(b, apisv1alpha1.InitialBindingCompleted) {
		return false
	}
	claims := slices.ContainsFunc(b.Spec.PermissionClaims, func(c apisv1alpha2.AcceptablePermissionClaim) bool {
		return c.State == apisv1alpha2.ClaimAccepted
	})
	return !claims || conditions.IsTrue(b, apisv1alpha1.PermissionClaimsApplied)
}

// describe names a binding that is not complete and its export, and says what the binding
// says about it.
func describe(b *apisv1alpha2.APIBinding) string {
	description := b.Name
	if export := b.Spec.Reference.Export; export != nil {
		description += fmt.Sprintf(" to %s|%s", export.Path, export.Name)
	}
	if !b.DeletionTimestamp.IsZero() {
		return description + " (is being deleted)"
	}
	for _, t := range []conditions.Type{
		apisv1alpha1.APIExportValid, apisv1alpha1.InitialBindingCompleted, apisv1alpha1.PermissionClaimsValid, apisv1alpha1.PermissionClaimsApplied,
	} {
		if condition, ok := conditions.Get(b, t); ok && condition.Status == corev1.ConditionFalse && condition.Message != "" {
			return fmt.Sprintf("%s (%s)", description, condition.Message)
		}
	}
	return description
}
