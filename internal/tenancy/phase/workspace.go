package phase

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

// disappearedAfter is how long the logical cluster of a workspace that is being
// initialized may be missing before its condition says so. Other shards see a new one
// with a delay.
const disappearedAfter = time.Minute

// WorkspaceInput is what is known of a workspace.
type WorkspaceInput struct {
	// Observed is the Workspace as stored. It is not changed.
	Observed *tenancyv1alpha1.Workspace

	// Cluster is the LogicalCluster of the workspace, nil if there is none. For a
	// workspace that is being deleted nil must come from a consistent read: the
	// workspace is let go then, and nobody would ever delete what is left.
	Cluster *corev1alpha1.LogicalCluster

	// URL is what spec.URL should be; empty leaves it as it is.
	URL string

	// Displaced says what is wrong with the place that the workspace has; nil if it can be
	// reached there.
	Displaced *Displacement

	// Now is the time of conditions that change.
	Now metav1.Time
}

// Displacement says why a workspace has no place, or not any more.
type Displacement struct {
	// Reason is one of those of WorkspaceScheduled.
	Reason string
	// Message is for people.
	Message string
}

// Step is what somebody has to do next for a workspace.
type Step string

// The steps.
const (
	// Wait: nothing, until something changes.
	Wait Step = ""
	// Schedule: find a place for the workspace and make its logical cluster.
	Schedule Step = "Schedule"
	// DeleteCluster: delete the LogicalCluster.
	DeleteCluster Step = "DeleteCluster"
)

// WorkspacePlan says what is to be done about a workspace.
type WorkspacePlan struct {
	// Workspace is the workspace as it should be. One that is being deleted and has no
	// finalizers left is to be removed.
	Workspace *tenancyv1alpha1.Workspace
	// Next is what else there is to do.
	Next Step
	// After is when to look again even if nothing changes; 0 is never.
	After time.Duration
}

// Workspace returns the Workspace as it should be, and what to do next. Mounted
// workspaces are left alone: their phase is that of what they show.
func Workspace(in WorkspaceInput) WorkspacePlan {
	if in.Observed.Spec.Mount != nil {
		return WorkspacePlan{Workspace: in.Observed}
	}
	plan := WorkspacePlan{Workspace: in.Observed.DeepCopy()}
	if in.Observed.DeletionTimestamp.IsZero() {
		plan.keep(in)
	} else {
		plan.end(in)
	}
	syncPhase(plan.Workspace, plan.Workspace.Status.Phase)
	if equality.Semantic.DeepEqual(in.Observed, plan.Workspace) {
		plan.Workspace = in.Observed
	}
	return plan
}

// Unscheduled returns ws as it should be when no place could be found for it. ws is not
// changed.
func Unscheduled(ws *tenancyv1alpha1.Workspace, why Displacement, now metav1.Time) *tenancyv1alpha1.Workspace {
	wanted := ws.DeepCopy()
	conditions.Set(wanted, scheduled(&why, now))
	wanted.Status.Phase = corev1alpha1.PhaseUnavailable
	syncPhase(wanted, wanted.Status.Phase)
	if equality.Semantic.DeepEqual(ws, wanted) {
		return ws
	}
	return wanted
}

// keep takes the steps of a workspace that is not being deleted.
func (p *WorkspacePlan) keep(in WorkspaceInput) {
	ws := p.Workspace
	if ws.Status.Phase == "" {
		ws.Status.Phase = corev1alpha1.PhaseScheduling
	}
	if ws.Spec.Cluster == "" || ws.Spec.URL == "" {
		p.Next = Schedule
		return
	}
	if in.URL != "" && in.URL != ws.Spec.URL {
		ws.Spec.URL = in.URL
		ws.Generation++
	}
	addFinalizer(ws, corev1alpha1.LogicalClusterFinalizer)
	conditions.Set(ws, scheduled(in.Displaced, in.Now))
	if ws.Status.Phase == corev1alpha1.PhaseScheduling {
		ws.Status.Phase = corev1alpha1.PhaseInitializing
	}
	if ws.Status.Phase == corev1alpha1.PhaseInitializing {
		p.initialize(in)
		return
	}
	ws.Status.Phase = corev1alpha1.PhaseReady
	if blocked(ws.Status.Conditions) {
		ws.Status.Phase = corev1alpha1.PhaseUnavailable
	}
}

// scheduled is the condition of a workspace that has a place, unless it is displaced.
func scheduled(displaced *Displacement, now metav1.Time) conditions.Condition {
	condition := conditions.Condition{Type: tenancyv1alpha1.WorkspaceScheduled, Status: corev1.ConditionTrue, LastTransitionTime: now}
	if displaced != nil {
		condition.Status, condition.Severity = corev1.ConditionFalse, conditions.SeverityError
		condition.Reason, condition.Message = displaced.Reason, displaced.Message
	}
	return condition
}

// initialize follows the logical cluster until it is Ready.
func (p *WorkspacePlan) initialize(in WorkspaceInput) {
	ws, lc := p.Workspace, in.Cluster
	if lc == nil {
		p.missCluster(in.Now)
		return
	}
	if lc.Status.Phase == "" || lc.Status.Phase == corev1alpha1.PhaseScheduling {
		// Its status has not been filled yet, so that it has no initializers means
		// nothing.
		return
	}
	ws.Status.Initializers = slices.Clone(lc.Status.Initializers)
	ws.Status.Terminators = slices.Clone(lc.Status.Terminators)
	conditions.Set(ws, initialized(lc, in.Now))
	showBindings(ws, lc)
	if len(lc.Status.Initializers) == 0 {
		ws.Status.Phase = corev1alpha1.PhaseReady
	}
}

// showBindings shows on the workspace what its default bindings wait for: who is waiting
// for the workspace need not be one who may look into it.
func showBindings(ws *tenancyv1alpha1.Workspace, lc *corev1alpha1.LogicalCluster) {
	condition, ok := conditions.Get(lc, corev1alpha1.APIBindingsInitialized)
	if ok && slices.Contains(lc.Status.Initializers, corev1alpha1.InitializerAPIBindings) {
		conditions.Set(ws, condition)
	} else {
		conditions.Delete(ws, corev1alpha1.APIBindingsInitialized)
	}
}

// missCluster says that the logical cluster is not there once that has lasted.
func (p *WorkspacePlan) missCluster(now metav1.Time) {
	scheduled, _ := conditions.Get(p.Workspace, tenancyv1alpha1.WorkspaceScheduled)
	if left := disappearedAfter - now.Sub(scheduled.LastTransitionTime.Time); left > 0 {
		p.After = left
		return
	}
	conditions.Set(p.Workspace, conditions.Condition{
		Type:               corev1alpha1.WorkspaceInitialized,
		Status:             corev1.ConditionFalse,
		Severity:           conditions.SeverityError,
		Reason:             corev1alpha1.ReasonWorkspaceDisappeared,
		Message:            "The logical cluster of the workspace is not there.",
		LastTransitionTime: now,
	})
}

// endConditions are those of a logical cluster that is being deleted which its workspace
// repeats.
var endConditions = []conditions.Type{corev1alpha1.WorkspaceContentDeleted, corev1alpha1.WorkspaceTerminated}

// end takes the steps of a workspace that is being deleted.
func (p *WorkspacePlan) end(in WorkspaceInput) {
	ws, lc := p.Workspace, in.Cluster
	if lc == nil {
		p.release(in.Now)
		return
	}
	ws.Status.Terminators = slices.Clone(lc.Status.Terminators)
	ws.Status.Phase = dying(ws.Status.Terminators)
	for _, mirrored := range endConditions {
		if condition, ok := conditions.Get(lc, mirrored); ok {
			conditions.Set(ws, condition)
		}
	}
	tellWorkspaceHolders(ws, lc, in.Now)
	// Whoever else holds the workspace may still need what is in it.
	if lc.DeletionTimestamp.IsZero() && !heldByOthers(ws) {
		p.Next = DeleteCluster
	}
}

// release lets a workspace go whose logical cluster is gone or never was.
func (p *WorkspacePlan) release(now metav1.Time) {
	ws := p.Workspace
	ws.Status.Terminators = nil
	ws.Status.Phase = corev1alpha1.PhaseDeleting
	tellWorkspaceHolders(ws, nil, now)
	if conditions.Has(ws, corev1alpha1.WorkspaceTerminated) {
		conditions.Set(ws, conditions.Condition{Type: corev1alpha1.WorkspaceTerminated, Status: corev1.ConditionTrue, LastTransitionTime: now})
	}
	conditions.Set(ws, conditions.Condition{
		Type: corev1alpha1.WorkspaceContentDeleted, Status: corev1.ConditionTrue, LastTransitionTime: now,
	})
	if !heldByOthers(ws) {
		removeFinalizer(ws, corev1alpha1.LogicalClusterFinalizer)
	}
}

// heldByOthers says whether ws has finalizers that are not ours. Ours goes last.
func heldByOthers(ws *tenancyv1alpha1.Workspace) bool {
	return len(holders(ws, corev1alpha1.LogicalClusterFinalizer)) > 0
}

// blocked says whether a condition keeps a workspace from being available.
func blocked(all conditions.Conditions) bool {
	return slices.ContainsFunc(all, func(c conditions.Condition) bool {
		return c.Status == corev1.ConditionFalse && strings.HasPrefix(string(c.Type), tenancyv1alpha1.WorkspaceConditionPrefix)
	})
}
