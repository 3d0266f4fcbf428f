package crd

import (
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type condition = apiextensionsv1.CustomResourceDefinitionCondition

// setCondition makes c the condition of its type, keeping the time of the last
// transition where the status stays what it was.
func setCondition(status *apiextensionsv1.CustomResourceDefinitionStatus, c condition, now metav1.Time) {
	c.LastTransitionTime = now
	for i := range status.Conditions {
		old := &status.Conditions[i]
		if old.Type != c.Type {
			continue
		}
		if old.Status == c.Status && !old.LastTransitionTime.IsZero() {
			c.LastTransitionTime = old.LastTransitionTime
		}
		c.ObservedGeneration = old.ObservedGeneration
		*old = c
		return
	}
	status.Conditions = append(status.Conditions, c)
}

func removeCondition(status *apiextensionsv1.CustomResourceDefinitionStatus, conditionType apiextensionsv1.CustomResourceDefinitionConditionType) {
	status.Conditions = slices.DeleteFunc(status.Conditions, func(c condition) bool { return c.Type == conditionType })
}

func isTrue(crd *apiextensionsv1.CustomResourceDefinition, conditionType apiextensionsv1.CustomResourceDefinitionConditionType) bool {
	return apihelpers.IsCRDConditionTrue(crd, conditionType)
}
