package crd

import (
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/internal/catalog"
)

// maxNamed is how many instances a condition names.
const maxNamed = 3

// Termination is what DecideTermination decides on.
type Termination struct {
	// CRD is the definition being deleted. It is not changed.
	CRD *apiextensionsv1.CustomResourceDefinition
	// Remaining are the instances there are after all have been asked to go.
	Remaining []catalog.Instance
	// Err is why instances could not be deleted or listed.
	Err error
	// Now is the time of conditions that change.
	Now metav1.Time
}

// DecideTermination returns the status that in.CRD should have, and whether nothing
// keeps it any more. It performs no I/O.
func DecideTermination(in Termination) (status apiextensionsv1.CustomResourceDefinitionStatus, done bool) {
	status = *in.CRD.Status.DeepCopy()
	c := condition{Type: apiextensionsv1.Terminating, Status: apiextensionsv1.ConditionTrue}
	switch {
	case !isTrue(in.CRD, apiextensionsv1.Established):
		c.Status = apiextensionsv1.ConditionFalse
		c.Reason, c.Message = "NeverEstablished", "resource was never established"
	case in.Err != nil:
		c.Reason, c.Message = "InstanceDeletionFailed", fmt.Sprintf("could not delete all instances: %v", in.Err)
	case len(in.Remaining) > 0:
		c.Reason, c.Message = "InstanceDeletionInProgress", waiting(in.Remaining)
	default:
		c.Status = apiextensionsv1.ConditionFalse
		c.Reason, c.Message = "InstanceDeletionCompleted", "removed all instances"
	}
	setCondition(&status, c, in.Now)
	return status, c.Status == apiextensionsv1.ConditionFalse
}

// waiting says what is left and what for.
func waiting(remaining []catalog.Instance) string {
	lines := make([]string, 0, len(remaining))
	for _, instance := range remaining {
		lines = append(lines, describe(instance))
	}
	slices.Sort(lines)
	more := ""
	if len(lines) > maxNamed {
		more = fmt.Sprintf(" and %d more", len(lines)-maxNamed)
		lines = lines[:maxNamed]
	}
	return fmt.Sprintf("CustomResource deletion is in progress, remaining: %s%s", strings.Join(lines, "; "), more)
}

func describe(instance catalog.Instance) string {
	name := instance.Name
	if instance.Namespace != "" {
		name = instance.Namespace + "/" + name
	}
	if len(instance.Finalizers) == 0 {
		return name
	}
	return name + " has finalizers " + strings.Join(instance.Finalizers, ", ")
}
