package claim

import (
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
)

// Validate checks what a claim says beside the resource it is for.
func Validate(c *apisv1alpha2.PermissionClaim, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(c.Verbs) == 0 {
		errs = append(errs, field.Required(path.Child("verbs"), ""))
	}
	seen := sets.New[string]()
	for i, verb := range c.Verbs {
		if seen.Has(verb) {
			errs = append(errs, field.Duplicate(path.Child("verbs").Index(i), verb))
		}
		seen.Insert(verb)
	}
	if c.DefaultSelector != nil {
		errs = append(errs, ValidateSelector(c.DefaultSelector, path.Child("defaultSelector"))...)
	}
	return errs
}

// ValidateSelector checks that a selector picks either everything or something.
func ValidateSelector(s *apisv1alpha2.PermissionClaimSelector, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if s.MatchAll {
		if len(s.MatchLabels) > 0 {
			errs = append(errs, field.Invalid(path.Child("matchLabels"), s.MatchLabels, "matchLabels cannot be used with matchAll"))
		}
		if len(s.MatchExpressions) > 0 {
			errs = append(errs, field.Invalid(path.Child("matchExpressions"), field.OmitValueType{}, "matchExpressions cannot be used with matchAll"))
		}
	} else if len(s.MatchLabels) == 0 && len(s.MatchExpressions) == 0 {
		errs = append(errs, field.Required(path, "either one of matchAll, matchLabels, or matchExpressions must be set"))
	}
	return append(errs, metav1validation.ValidateLabelSelector(&s.LabelSelector, metav1validation.LabelSelectorValidationOptions{}, path)...)
}
