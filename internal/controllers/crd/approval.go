package crd

import (
	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// approval returns the condition that says whether a definition in a group of the
// Kubernetes community was approved by it, or nil for other groups.
func approval(crd *apiextensionsv1.CustomResourceDefinition) *condition {
	if !apihelpers.IsProtectedCommunityGroup(crd.Spec.Group) {
		return nil
	}
	state, message := apihelpers.GetAPIApprovalState(crd.Annotations)
	result := &condition{
		Type:    apiextensionsv1.KubernetesAPIApprovalPolicyConformant,
		Status:  apiextensionsv1.ConditionFalse,
		Message: message,
	}
	switch state {
	case apihelpers.APIApproved:
		result.Status, result.Reason = apiextensionsv1.ConditionTrue, "ApprovedAnnotation"
	case apihelpers.APIApprovalBypassed:
		result.Reason = "UnapprovedAnnotation"
	case apihelpers.APIApprovalMissing:
		result.Reason = "MissingAnnotation"
	case apihelpers.APIApprovalInvalid:
		result.Reason = "InvalidAnnotation"
	default:
		result.Status, result.Reason = apiextensionsv1.ConditionUnknown, "UnknownAnnotation"
	}
	return result
}
