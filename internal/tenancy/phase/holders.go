package phase

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

// clusterFinalizers are those of ours that a LogicalCluster may have. Other conditions say
// what they wait for.
var clusterFinalizers = []string{corev1alpha1.DeletionFinalizer, corev1alpha1.TerminatorsFinalizer}

// holders returns the finalizers of an object that are not ours, sorted.
func holders(object metav1.Object, ours ...string) []string {
	others := slices.DeleteFunc(slices.Clone(object.GetFinalizers()), func(finalizer string) bool { return slices.Contains(ours, finalizer) })
	slices.Sort(others)
	return others
}

// heldSince says who holds what is being deleted; empty if nobody does.
func heldSince(what string, object metav1.Object, others []string) string {
	if len(others) == 0 {
		return ""
	}
	return fmt.Sprintf("The %s is held by finalizers of others (since %s): %s", what, stamp(*object.GetDeletionTimestamp()), some(others, mostHolders))
}

// tellHolders says on object, which is being deleted, who of others holds it: message, or
// nobody any more if that is empty. Where nobody ever did there is nothing to say.
func tellHolders(object conditions.Setter, message string, now metav1.Time) {
	condition := conditions.Condition{Type: corev1alpha1.WorkspaceReleased, Status: corev1.ConditionTrue, LastTransitionTime: now}
	switch {
	case message != "":
		condition.Status, condition.Severity = corev1.ConditionFalse, conditions.SeverityInfo
		condition.Reason, condition.Message = corev1alpha1.ReasonFinalizersRemain, message
	case !conditions.Has(object, condition.Type):
		return
	}
	conditions.Set(object, condition)
}

// tellClusterHolders is tellHolders for a LogicalCluster.
func tellClusterHolders(lc *corev1alpha1.LogicalCluster, now metav1.Time) {
	tellHolders(lc, heldSince("logical cluster", lc, holders(lc, clusterFinalizers...)), now)
}

// tellWorkspaceHolders is tellHolders for a workspace. What holds its logical cluster, nil
// if that is gone, holds the workspace as well.
func tellWorkspaceHolders(ws *tenancyv1alpha1.Workspace, lc *corev1alpha1.LogicalCluster, now metav1.Time) {
	message := heldSince("workspace", ws, holders(ws, corev1alpha1.LogicalClusterFinalizer))
	if lc != nil {
		if message != "" && lc.DeletionTimestamp.IsZero() {
			message += "; nothing in it is deleted before they are removed"
		}
		if inside, ok := conditions.Get(lc, corev1alpha1.WorkspaceReleased); ok && inside.Message != "" {
			if message != "" {
				message += "; "
			}
			message += inside.Message
		}
	}
	tellHolders(ws, message, now)
}
