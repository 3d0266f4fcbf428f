package crd

import (
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/util/webhook"
)

// Input is what Decide decides on.
type Input struct {
	// CRD is the definition. It is not changed.
	CRD *apiextensionsv1.CustomResourceDefinition
	// InUse are the names that others have in the group: those accepted for the other
	// definitions of the cluster, and those of built-in and system resources.
	InUse Names
	// Now is the time of conditions that change.
	Now metav1.Time
}

// Decide returns the status that in.CRD should have. It performs no I/O.
func Decide(in Input) apiextensionsv1.CustomResourceDefinitionStatus {
	status := *in.CRD.Status.DeepCopy()

	// Validation lets a schema that is not structural through only where there was one
	// before, so an established definition without the condition need not be looked at.
	if !isTrue(in.CRD, apiextensionsv1.Established) || apihelpers.FindCRDCondition(in.CRD, apiextensionsv1.NonStructuralSchema) != nil {
		if violations := nonStructural(&in.CRD.Spec); violations != nil {
			setCondition(&status, *violations, in.Now)
		} else {
			removeCondition(&status, apiextensionsv1.NonStructuralSchema)
		}
	}
	if c := approval(in.CRD); c != nil {
		setCondition(&status, *c, in.Now)
	}

	accepted, conflict := accept(in.CRD.Spec.Names, in.CRD.Status.AcceptedNames, in.InUse)
	status.AcceptedNames = accepted
	setCondition(&status, namesAccepted(conflict), in.Now)
	// Established once, a definition stays so: it has instances.
	if !isTrue(in.CRD, apiextensionsv1.Established) {
		setCondition(&status, established(&in.CRD.Spec, conflict), in.Now)
	}
	status.StoredVersions = withStorageVersion(&in.CRD.Spec, status.StoredVersions)
	return status
}

func namesAccepted(c *conflict) condition {
	if c != nil {
		return condition{
			Type:    apiextensionsv1.NamesAccepted,
			Status:  apiextensionsv1.ConditionFalse,
			Reason:  c.reason,
			Message: c.message,
		}
	}
	return condition{
		Type:    apiextensionsv1.NamesAccepted,
		Status:  apiextensionsv1.ConditionTrue,
		Reason:  "NoConflicts",
		Message: "no conflicts found",
	}
}

func established(spec *apiextensionsv1.CustomResourceDefinitionSpec, c *conflict) condition {
	result := condition{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionFalse}
	switch {
	case c != nil:
		result.Reason, result.Message = "NotAccepted", "not all names are accepted"
	case !validCABundle(spec.Conversion):
		result.Reason, result.Message = "InvalidCABundle", "The conversion webhook CABundle is invalid"
	default:
		result.Status = apiextensionsv1.ConditionTrue
		result.Reason, result.Message = "InitialNamesAccepted", "the initial names have been accepted"
	}
	return result
}

func validCABundle(conversion *apiextensionsv1.CustomResourceConversion) bool {
	if conversion == nil || conversion.Webhook == nil || conversion.Webhook.ClientConfig == nil {
		return true
	}
	return len(webhook.ValidateCABundle(field.NewPath(""), conversion.Webhook.ClientConfig.CABundle)) == 0
}

// withStorageVersion returns stored with the version that is stored now.
func withStorageVersion(spec *apiextensionsv1.CustomResourceDefinitionSpec, stored []string) []string {
	for i := range spec.Versions {
		if spec.Versions[i].Storage && !slices.Contains(stored, spec.Versions[i].Name) {
			return append(stored, spec.Versions[i].Name)
		}
	}
	return stored
}
