package phase

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Content is what is left in a logical cluster that is being deleted, as far as its
// deletion waits for it. The zero Content is nothing.
type Content struct {
	// Remaining counts the objects of each resource.
	Remaining map[schema.GroupResource]int

	// Finalizers counts the objects that have each finalizer.
	Finalizers map[string]int

	// Nested are the workspaces in it that are still there, sorted.
	Nested []NestedWorkspace

	// Failure is the reason for which content could not be found out or not be
	// deleted, such as ReasonContentDeletionFailed; Message says more. Both are empty
	// if nothing failed.
	Failure, Message string
}

// NestedWorkspace is a workspace in a logical cluster that is being deleted. Its own
// conditions say what it waits for.
type NestedWorkspace struct {
	Path  logicalcluster.Path
	Phase corev1alpha1.Phase
}

// Messages name so many of a kind at most and count the others: whoever fills a workspace
// decides how many there are.
const (
	mostCounted = 20
	mostNested  = 5
	mostHolders = 10
)

// Gone says whether nothing is left.
func (c Content) Gone() bool {
	return c.Failure == "" && len(c.Remaining) == 0 && len(c.Finalizers) == 0
}

// Condition returns the condition that tells about the content.
func (c Content) Condition() conditions.Condition {
	condition := conditions.Condition{Type: corev1alpha1.WorkspaceContentDeleted, Status: corev1.ConditionFalse}
	switch {
	case c.Gone():
		condition.Status = corev1.ConditionTrue
	case c.Failure != "":
		condition.Reason, condition.Severity, condition.Message = c.Failure, conditions.SeverityError, c.Message
	default:
		condition.Reason, condition.Severity = corev1alpha1.ReasonSomeResourcesRemain, conditions.SeverityInfo
		condition.Message = c.remains()
	}
	return condition
}

// remains is sorted, so that the message is the same as long as nothing changes.
func (c Content) remains() string {
	var parts []string
	if len(c.Remaining) > 0 {
		parts = append(parts, "Some resources are remaining: "+counted(c.Remaining, func(resource schema.GroupResource, n int) string {
			return fmt.Sprintf("%s has %d resource instances", resource, n)
		}))
	}
	if len(c.Finalizers) > 0 {
		parts = append(parts, "Some content in the logical cluster has finalizers remaining: "+counted(c.Finalizers, func(finalizer string, n int) string {
			return fmt.Sprintf("%s in %d resource instances", finalizer, n)
		}))
	}
	if len(c.Nested) > 0 {
		names := make([]string, 0, len(c.Nested))
		for _, nested := range c.Nested {
			names = append(names, fmt.Sprintf("%s (%s)", nested.Path, nested.Phase))
		}
		parts = append(parts, "Nested workspaces are remaining: "+some(names, mostNested))
	}
	return strings.Join(parts, "; ")
}

func counted[K comparable](counts map[K]int, entry func(K, int) string) string {
	entries := make([]string, 0, len(counts))
	for key, n := range counts {
		entries = append(entries, entry(key, n))
	}
	slices.Sort(entries)
	return some(entries, mostCounted)
}

// some lists the first of names, and says how many more there are.
func some(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
