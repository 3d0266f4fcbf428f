package phase_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/internal/tenancy/phase"
	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

type ws = tenancyv1alpha1.Workspace

func placed(p corev1alpha1.Phase, all ...conditions.Condition) *ws {
	return &ws{
		Spec:   tenancyv1alpha1.WorkspaceSpec{Cluster: "c", URL: "https://x/clusters/root:a"},
		Status: tenancyv1alpha1.WorkspaceStatus{Phase: p, Conditions: all},
	}
}

func inPhase(p corev1alpha1.Phase, initializers ...corev1alpha1.Initializer) *lc {
	return &lc{Status: corev1alpha1.LogicalClusterStatus{Phase: p, Initializers: initializers}}
}

func isFalse(t conditions.Type) conditions.Condition {
	return conditions.Condition{Type: t, Status: corev1.ConditionFalse, Severity: conditions.SeverityError, Reason: "Why", LastTransitionTime: now}
}

func scheduledAt(at time.Time) conditions.Condition {
	return conditions.Condition{Type: tenancyv1alpha1.WorkspaceScheduled, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(at)}
}

func dyingWorkspace(finalizers ...string) *ws {
	w := placed(corev1alpha1.PhaseReady)
	w.ObjectMeta = deleted(finalizers...)
	return w
}

func TestWorkspace(t *testing.T) {
	const ours = corev1alpha1.LogicalClusterFinalizer
	dyingCluster := inPhase(corev1alpha1.PhaseTerminating)
	dyingCluster.ObjectMeta = deleted("x")
	dyingCluster.Status.Terminators = []corev1alpha1.Terminator{"root:t"}
	dyingCluster.Status.Conditions = conditions.Conditions{
		{
			Type: corev1alpha1.WorkspaceContentDeleted, Status: corev1.ConditionFalse,
			Reason: corev1alpha1.ReasonSomeResourcesRemain, Message: "Some.", LastTransitionTime: now,
		},
		{
			Type: corev1alpha1.WorkspaceReleased, Status: corev1.ConditionFalse,
			Reason: corev1alpha1.ReasonFinalizersRemain, Message: "Held.", LastTransitionTime: now,
		},
		{
			Type: corev1alpha1.WorkspaceTerminated, Status: corev1.ConditionFalse,
			Reason: corev1alpha1.ReasonTerminatorExists, Message: "Waits.", LastTransitionTime: now,
		},
	}

	cases := map[string]struct {
		reason     string
		observed   *ws
		cluster    *lc
		want       corev1alpha1.Phase
		next       phase.Step
		after      time.Duration
		finalizers []string
		conditions map[conditions.Type]string
	}{
		"New": {
			reason: "a workspace without a place needs one", observed: &ws{},
			want: corev1alpha1.PhaseScheduling, next: phase.Schedule,
		},
		"HalfPlaced": {
			reason:   "a cluster without a URL is no place",
			observed: &ws{Spec: tenancyv1alpha1.WorkspaceSpec{Cluster: "c"}},
			want:     corev1alpha1.PhaseScheduling, next: phase.Schedule,
		},
		"Unschedulable": {
			reason: "it is tried again", want: corev1alpha1.PhaseUnavailable, next: phase.Schedule,
			observed: &ws{Status: tenancyv1alpha1.WorkspaceStatus{Phase: corev1alpha1.PhaseUnavailable, Conditions: conditions.Conditions{isFalse("WorkspaceScheduled")}}},
		},
		"Initializing": {
			reason: "initializers are waited for", observed: placed(corev1alpha1.PhaseScheduling),
			cluster: inPhase(corev1alpha1.PhaseInitializing, "root:a"), want: corev1alpha1.PhaseInitializing,
			finalizers: []string{ours},
			conditions: map[conditions.Type]string{"WorkspaceScheduled": "True/", "WorkspaceInitialized": "False/InitializerExists"},
		},
		"ClusterNotStarted": {
			reason: "no initializers in a status nobody has filled yet mean nothing", observed: placed(corev1alpha1.PhaseInitializing),
			cluster: inPhase(corev1alpha1.PhaseScheduling), want: corev1alpha1.PhaseInitializing, finalizers: []string{ours},
			conditions: map[conditions.Type]string{"WorkspaceScheduled": "True/"},
		},
		"Initialized": {
			reason: "the last one is gone", observed: placed(corev1alpha1.PhaseInitializing, isFalse("WorkspaceInitialized")),
			cluster: inPhase(corev1alpha1.PhaseReady), want: corev1alpha1.PhaseReady, finalizers: []string{ours},
			conditions: map[conditions.Type]string{"WorkspaceScheduled": "True/", "WorkspaceInitialized": "True/"},
		},
		"NotThereYet": {
			reason: "a logical cluster may take a moment to show", observed: placed(corev1alpha1.PhaseInitializing, scheduledAt(now.Add(-20*time.Second))),
			want: corev1alpha1.PhaseInitializing, after: 40 * time.Second, finalizers: []string{ours},
			conditions: map[conditions.Type]string{"WorkspaceScheduled": "True/"},
		},
		"Disappeared": {
			reason: "but not longer than a minute", observed: placed(corev1alpha1.PhaseInitializing, scheduledAt(now.Add(-time.Minute))),
			want: corev1alpha1.PhaseInitializing, finalizers: []string{ours},
			conditions: map[conditions.Type]string{"WorkspaceScheduled": "True/", "WorkspaceInitialized": "False/WorkspaceDisappeared"},
		},
		"Blocked": {
			reason: "a workspace condition that is False makes it unavailable", observed: placed(corev1alpha1.PhaseReady, isFalse("WorkspaceElse")),
			cluster: inPhase(corev1alpha1.PhaseReady), want: corev1alpha1.PhaseUnavailable, finalizers: []string{ours},
			conditions: map[conditions.Type]string{"WorkspaceScheduled": "True/", "WorkspaceElse": "False/Why"},
		},
		"NotBlocked": {
			reason: "other conditions do not", observed: placed(corev1alpha1.PhaseReady, isFalse("Else")),
			cluster: inPhase(corev1alpha1.PhaseReady), want: corev1alpha1.PhaseReady, finalizers: []string{ours},
			conditions: map[conditions.Type]string{"WorkspaceScheduled": "True/", "Else": "False/Why"},
		},
		"Recovered": {
			reason: "it is Ready again when nothing is False", observed: placed(corev1alpha1.PhaseUnavailable, isFalse("WorkspaceScheduled")),
			cluster: inPhase(corev1alpha1.PhaseReady), want: corev1alpha1.PhaseReady, finalizers: []string{ours},
			conditions: map[conditions.Type]string{"WorkspaceScheduled": "True/"},
		},
		"InactiveCluster": {
			reason: "that the cluster is offline is not mirrored", observed: placed(corev1alpha1.PhaseReady),
			cluster: inPhase(corev1alpha1.PhaseInactive), want: corev1alpha1.PhaseReady, finalizers: []string{ours},
			conditions: map[conditions.Type]string{"WorkspaceScheduled": "True/"},
		},
		"Mounted": {
			reason:   "a mounted workspace has no logical cluster",
			observed: &ws{Spec: tenancyv1alpha1.WorkspaceSpec{Mount: &tenancyv1alpha1.Mount{}}},
		},
		"Deleted": {
			reason: "the logical cluster goes first", observed: dyingWorkspace(ours),
			cluster: inPhase(corev1alpha1.PhaseReady), want: corev1alpha1.PhaseDeleting, next: phase.DeleteCluster, finalizers: []string{ours},
		},
		"DeletedButHeld": {
			reason: "somebody may still need what is in it", observed: dyingWorkspace(ours, "foreign"),
			cluster: inPhase(corev1alpha1.PhaseReady), want: corev1alpha1.PhaseDeleting, finalizers: []string{ours, "foreign"},
			conditions: map[conditions.Type]string{"WorkspaceReleased": "False/FinalizersRemain"},
		},
		"ClusterGoes": {
			reason: "what the deletion waits for is mirrored", observed: dyingWorkspace(ours), cluster: dyingCluster,
			want: corev1alpha1.PhaseTerminating, finalizers: []string{ours},
			conditions: map[conditions.Type]string{
				"WorkspaceContentDeleted": "False/SomeResourcesRemain", "WorkspaceReleased": "False/FinalizersRemain",
				"WorkspaceTerminated": "False/TerminatorExists",
			},
		},
		"ClusterGone": {
			reason: "then the workspace may go", observed: dyingWorkspace(ours), want: corev1alpha1.PhaseDeleting,
			conditions: map[conditions.Type]string{"WorkspaceContentDeleted": "True/"},
		},
		"ClusterGoneButHeld": {
			reason: "our finalizer is the last", observed: dyingWorkspace(ours, "foreign"), want: corev1alpha1.PhaseDeleting,
			finalizers: []string{ours, "foreign"},
			conditions: map[conditions.Type]string{"WorkspaceContentDeleted": "True/", "WorkspaceReleased": "False/FinalizersRemain"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			before := c.observed.DeepCopy()
			plan := phase.Workspace(phase.WorkspaceInput{Observed: c.observed, Cluster: c.cluster, Now: now})
			if diff := cmp.Diff(before, c.observed); diff != "" {
				t.Fatalf("the input was changed (-before +after):\n%s", diff)
			}
			got := plan.Workspace
			if got.Status.Phase != c.want || got.Labels[tenancyv1alpha1.PhaseLabelKey] != string(c.want) {
				t.Errorf("%s: phase is %s with label %s, want %s", c.reason, got.Status.Phase, got.Labels[tenancyv1alpha1.PhaseLabelKey], c.want)
			}
			if plan.Next != c.next || plan.After != c.after {
				t.Errorf("%s: next is %q after %s, want %q after %s", c.reason, plan.Next, plan.After, c.next, c.after)
			}
			if diff := cmp.Diff(c.finalizers, got.Finalizers); diff != "" {
				t.Errorf("%s: finalizers (-want +got):\n%s", c.reason, diff)
			}
			if c.conditions != nil {
				all := map[conditions.Type]string{}
				for _, condition := range got.Status.Conditions {
					all[condition.Type] = string(condition.Status) + "/" + condition.Reason
				}
				if diff := cmp.Diff(c.conditions, all); diff != "" {
					t.Errorf("%s: conditions (-want +got):\n%s", c.reason, diff)
				}
			}
			if again := phase.Workspace(phase.WorkspaceInput{Observed: got, Cluster: c.cluster, Now: now}); again.Workspace != got {
				t.Errorf("deciding again changes something:\n%s", cmp.Diff(got, again.Workspace))
			}
		})
	}
}

func TestWorkspaceShowsWhatItsBindingsWaitFor(t *testing.T) {
	waits := isFalse(corev1alpha1.APIBindingsInitialized)
	waits.Message = "APIExport root:p|cowboys not found"
	cluster := inPhase(corev1alpha1.PhaseInitializing, corev1alpha1.InitializerAPIBindings)
	cluster.Status.Conditions = conditions.Conditions{waits}
	observed := placed(corev1alpha1.PhaseInitializing)
	waiting := phase.Workspace(phase.WorkspaceInput{Observed: observed, Cluster: cluster, Now: now}).Workspace
	shown, _ := conditions.Get(waiting, corev1alpha1.APIBindingsInitialized)
	if diff := cmp.Diff(waits, shown); diff != "" {
		t.Errorf("who waits must not have to look into the workspace (-want +got):\n%s", diff)
	}

	cluster.Status.Initializers = []corev1alpha1.Initializer{"root:other"}
	later := phase.Workspace(phase.WorkspaceInput{Observed: waiting, Cluster: cluster, Now: now}).Workspace
	if conditions.Has(later, corev1alpha1.APIBindingsInitialized) {
		t.Error("what has been made is not waited for")
	}
}

func TestWorkspaceURLFollowsShard(t *testing.T) {
	plan := phase.Workspace(phase.WorkspaceInput{
		Observed: placed(corev1alpha1.PhaseReady), Cluster: inPhase(corev1alpha1.PhaseReady), URL: "https://new/clusters/root:a", Now: now,
	})
	if plan.Workspace.Spec.URL != "https://new/clusters/root:a" {
		t.Errorf("the URL is %s after the shard got a new one", plan.Workspace.Spec.URL)
	}
}

func TestUnscheduled(t *testing.T) {
	why := phase.Displacement{Reason: tenancyv1alpha1.ReasonUnschedulable, Message: "No shard fits."}
	got := phase.Unscheduled(&ws{}, why, now)
	want := conditions.Condition{
		Type: "WorkspaceScheduled", Status: corev1.ConditionFalse, Severity: conditions.SeverityError,
		Reason: "Unschedulable", Message: "No shard fits.", LastTransitionTime: now,
	}
	condition, _ := conditions.Get(got, tenancyv1alpha1.WorkspaceScheduled)
	if diff := cmp.Diff(want, condition); diff != "" {
		t.Errorf("condition (-want +got):\n%s", diff)
	}
	if got.Status.Phase != corev1alpha1.PhaseUnavailable {
		t.Errorf("phase is %s", got.Status.Phase)
	}
	if again := phase.Unscheduled(got, why, now); again != got {
		t.Error("saying the same again changes something")
	}
}

// TestWorkspaceHolders: the conditions of a workspace that does not go say who of others
// holds it, or what is inside.
func TestWorkspaceHolders(t *testing.T) {
	held := phase.LogicalCluster(phase.LogicalClusterInput{Observed: &lc{ObjectMeta: deleted("inner")}, Now: now})
	released := dyingWorkspace("core.kcp.io/logicalcluster")
	released.Status.Conditions = conditions.Conditions{isFalse("WorkspaceReleased")}
	const since = " (since 2026-01-02T03:04:05Z): "
	for name, c := range map[string]struct {
		reason   string
		observed *ws
		cluster  *lc
		want     string
	}{
		"Outside": {
			reason: "row 46: a finalizer on the workspace keeps what is in it", observed: dyingWorkspace("core.kcp.io/logicalcluster", "outer"), cluster: inPhase(corev1alpha1.PhaseReady),
			want: "The workspace is held by finalizers of others" + since + "outer; nothing in it is deleted before they are removed",
		},
		"Inside": {
			reason: "row 45: one on the logical cluster keeps the workspace", observed: dyingWorkspace("core.kcp.io/logicalcluster"), cluster: held,
			want: "The logical cluster is held by finalizers of others" + since + "inner",
		},
		"Both": {
			reason: "both are told", observed: dyingWorkspace("core.kcp.io/logicalcluster", "outer"), cluster: held,
			want: "The workspace is held by finalizers of others" + since + "outer; The logical cluster is held by finalizers of others" + since + "inner",
		},
		"Left":    {reason: "the workspace may be all that is left", observed: dyingWorkspace("outer"), want: "The workspace is held by finalizers of others" + since + "outer"},
		"Release": {reason: "nobody holds it any more", observed: released, cluster: inPhase(corev1alpha1.PhaseDeleting)},
	} {
		t.Run(name, func(t *testing.T) {
			got := phase.Workspace(phase.WorkspaceInput{Observed: c.observed, Cluster: c.cluster, Now: now}).Workspace
			condition, ok := conditions.Get(got, corev1alpha1.WorkspaceReleased)
			if !ok || condition.Message != c.want {
				t.Errorf("%s: got %q, want %q", c.reason, condition.Message, c.want)
			}
		})
	}
}
