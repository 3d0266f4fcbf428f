package namespace

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kubernetes/pkg/apis/core"
)

// Content is what is left in a namespace that is being deleted. The zero Content is
// nothing.
type Content struct {
	// Remaining counts the objects of each resource.
	Remaining map[schema.GroupVersionResource]int
	// Finalizers counts the objects that have each finalizer.
	Finalizers map[string]int
	// Failure says why content could not be deleted; empty if nothing failed.
	Failure string
}

// Gone says whether nothing is left.
func (c Content) Gone() bool { return c.Failure == "" && len(c.Remaining) == 0 }

// Decide returns the status that a namespace with this content should have. Conditions,
// reasons and messages are those of Kubernetes' own namespace controller.
func Decide(observed *core.Namespace, content Content, now metav1.Time) core.NamespaceStatus {
	status := *observed.Status.DeepCopy()
	status.Phase = core.NamespaceTerminating
	for _, c := range []struct {
		kind             core.NamespaceConditionType
		holds            bool
		reason, message  string
		otherwise, quiet string
	}{
		{
			core.NamespaceDeletionDiscoveryFailure, false, "", "",
			"ResourcesDiscovered", "All resources successfully discovered",
		},
		{
			core.NamespaceDeletionGVParsingFailure, false, "", "",
			"ParsedGroupVersions", "All legacy kube types successfully parsed",
		},
		{
			core.NamespaceDeletionContentFailure, content.Failure != "", "ContentDeletionFailed", content.Failure,
			"ContentDeleted", "All content successfully deleted, may be waiting on finalization",
		},
		{
			core.NamespaceConditionType(corev1.NamespaceContentRemaining), len(content.Remaining) > 0, "SomeResourcesRemain", content.remaining(),
			"ContentRemoved", "All content successfully removed",
		},
		{
			core.NamespaceConditionType(corev1.NamespaceFinalizersRemaining), len(content.Finalizers) > 0, "SomeFinalizersRemain", content.finalizers(),
			"ContentHasNoFinalizers", "All content-preserving finalizers finished",
		},
	} {
		condition := core.NamespaceCondition{Type: c.kind, Status: core.ConditionFalse, Reason: c.otherwise, Message: c.quiet, LastTransitionTime: now}
		if c.holds {
			condition.Status, condition.Reason, condition.Message = core.ConditionTrue, c.reason, c.message
		}
		set(&status, condition)
	}
	return status
}

func (c Content) remaining() string {
	parts := make([]string, 0, len(c.Remaining))
	for resource, count := range c.Remaining {
		parts = append(parts, fmt.Sprintf("%s.%s has %d resource instances", resource.Resource, resource.Group, count))
	}
	slices.Sort(parts)
	return "Some resources are remaining: " + strings.Join(parts, ", ")
}

func (c Content) finalizers() string {
	parts := make([]string, 0, len(c.Finalizers))
	for _, finalizer := range slices.Sorted(maps.Keys(c.Finalizers)) {
		parts = append(parts, fmt.Sprintf("%s in %d resource instances", finalizer, c.Finalizers[finalizer]))
	}
	return "Some content in the namespace has finalizers remaining: " + strings.Join(parts, ", ")
}

// set puts a condition into a status. Its time stays as it was if nothing changes.
func set(status *core.NamespaceStatus, condition core.NamespaceCondition) {
	i := slices.IndexFunc(status.Conditions, func(c core.NamespaceCondition) bool { return c.Type == condition.Type })
	if i < 0 {
		status.Conditions = append(status.Conditions, condition)
		return
	}
	if known := status.Conditions[i]; known.Status == condition.Status && known.Reason == condition.Reason && known.Message == condition.Message {
		return
	}
	status.Conditions[i] = condition
}
