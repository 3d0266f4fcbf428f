package claim

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
)

// everything is how the selector is written that leaves nothing out.
const everything = "*"

// MatchAll returns the selector that leaves nothing out.
func MatchAll() apisv1alpha2.PermissionClaimSelector {
	return apisv1alpha2.PermissionClaimSelector{MatchAll: true}
}

// DefaultSelector returns what c is accepted with if nobody says otherwise.
func DefaultSelector(c apisv1alpha2.PermissionClaim) apisv1alpha2.PermissionClaimSelector {
	if c.DefaultSelector == nil {
		return MatchAll()
	}
	return *c.DefaultSelector.DeepCopy()
}

// ParseSelector reads a label selector as kubectl has it, or "*" for all objects.
func ParseSelector(s string) (apisv1alpha2.PermissionClaimSelector, error) {
	if s == everything {
		return MatchAll(), nil
	}
	labels, err := metav1.ParseToLabelSelector(s)
	if err != nil {
		return apisv1alpha2.PermissionClaimSelector{}, fmt.Errorf("the selector %q: %w", s, err)
	}
	if len(labels.MatchLabels)+len(labels.MatchExpressions) == 0 {
		return apisv1alpha2.PermissionClaimSelector{}, fmt.Errorf("the selector is empty; %q stands for all objects", everything)
	}
	return apisv1alpha2.PermissionClaimSelector{LabelSelector: *labels}, nil
}

// FormatSelector is the reverse of ParseSelector.
func FormatSelector(s apisv1alpha2.PermissionClaimSelector) string {
	if s.MatchAll || len(s.MatchLabels)+len(s.MatchExpressions) == 0 {
		return everything
	}
	return metav1.FormatLabelSelector(&s.LabelSelector)
}
