package waiting

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

// against is a condition that is false.
func against(name conditions.Type, reason, message string) conditions.Conditions {
	return conditions.Conditions{
		{Type: "Other", Status: corev1.ConditionTrue, Message: "is fine"},
		{Type: name, Status: corev1.ConditionFalse, Reason: reason, Message: message},
	}
}

func TestWords(t *testing.T) {
	const teams, certs = "root:acme:team", "root:platform:certs"
	cases := map[string]struct {
		reason        string
		state         State
		began         int
		missing, line string
	}{
		"Scheduling": {
			reason: "nothing says more than the phase", state: State{Phase: "Scheduling"},
			missing: "waiting in phase Scheduling", line: "Scheduling",
		},
		"Ready": {reason: "nothing is missing", state: State{Phase: "Ready"}, missing: "waiting in phase Ready", line: "Ready"},
		"Condition": {
			reason: "a condition says what the phase does not", state: State{Phase: "Scheduling", Conditions: against("WorkspaceScheduled", "Unschedulable", "no shard fits")},
			missing: "WorkspaceScheduled is false: no shard fits", line: "Scheduling, WorkspaceScheduled is false: no shard fits",
		},
		"Reason": {
			reason: "a reason is better than nothing", state: State{Phase: "Unavailable", Conditions: against("Reachable", "Gone", "")},
			missing: "Reachable is false: Gone", line: "Unavailable, Reachable is false: Gone",
		},
		"NoReason": {
			reason: "and if there is none that is said", state: State{Phase: "Unavailable", Conditions: against("Reachable", "", "")},
			missing: "Reachable is false: no reason given", line: "Unavailable, Reachable is false: no reason given",
		},
		"OneInitializer": {
			reason: "initializers say more than conditions about them", began: 1,
			state:   State{Phase: "Initializing", Initializers: []string{teams}, Conditions: against("WorkspaceInitialized", "InitializerExists", "1 left")},
			missing: "waiting for initializer root:acme:team", line: "Initializing, waiting for root:acme:team",
		},
		"SomeInitializers": {
			reason: "who watches is told how many are done", began: 3, state: State{Phase: "Initializing", Initializers: []string{teams, certs}},
			missing: "waiting for initializers root:acme:team, root:platform:certs",
			line:    "Initializing, 1 of 3 initializers done, waiting for root:acme:team, root:platform:certs",
		},
		"Terminators": {
			reason: "a workspace that is deleted waits for other things", state: State{Phase: "Terminating", Ending: true, Terminators: []string{teams}, Initializers: []string{certs}},
			missing: "waiting for terminator root:acme:team", line: "Terminating, waiting for terminator root:acme:team",
		},
		"Emptying": {
			reason: "the server says nothing yet", state: State{Phase: "Deleting", Ending: true},
			missing: "its objects are being deleted", line: "Deleting, its objects are being deleted",
		},
		"Left": {
			reason: "what is left is summed up",
			state: State{Phase: "Deleting", Ending: true, Conditions: against(corev1alpha1.WorkspaceContentDeleted, "SomeResourcesRemain",
				"Some resources are remaining: a.example.com has 1 resource instances, b.example.com has 2 resource instances; "+
					"Some content in the logical cluster has finalizers remaining: x in 2 resource instances, y in 1 resource instances; "+
					"Nested workspaces are remaining: root:w0 (Terminating) and 2 more")},
			missing: "3 objects left (a.example.com, b.example.com), finalizer x in 2, finalizer y in 1, workspaces left: root:w0 (Terminating) and 2 more",
			line:    "Deleting, 3 objects left (a.example.com, b.example.com), finalizer x in 2, finalizer y in 1, workspaces left: root:w0 (Terminating) and 2 more",
		},
		"LeftOne": {
			reason: "one object is no objects",
			state: State{Phase: "Deleting", Ending: true, Conditions: against(corev1alpha1.WorkspaceContentDeleted, "SomeResourcesRemain",
				"Some resources are remaining: a.example.com has 1 resource instances")},
			missing: "1 object left (a.example.com)", line: "Deleting, 1 object left (a.example.com)",
		},
		"OtherWords": {
			reason: "a server that says it otherwise is quoted", state: State{Phase: "Deleting", Ending: true, Conditions: against(corev1alpha1.WorkspaceContentDeleted, "Failed", "etcd is full")},
			missing: "etcd is full", line: "Deleting, etcd is full",
		},
		"Held": {
			reason: "both are told", state: State{Phase: "Terminating", Ending: true, Terminators: []string{teams, certs}, Conditions: against(corev1alpha1.WorkspaceReleased, "Held", "held by a finalizer")},
			missing: "waiting for terminators root:acme:team, root:platform:certs; held by a finalizer",
			line:    "Terminating, waiting for terminators root:acme:team, root:platform:certs; held by a finalizer",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.state.Missing(); got != tc.missing {
				t.Errorf("%s: missing is\n%q, want\n%q", tc.reason, got, tc.missing)
			}
			if got := tc.state.Line(tc.began); got != tc.line {
				t.Errorf("%s: the line is\n%q, want\n%q", tc.reason, got, tc.line)
			}
		})
	}
}

// TestOf holds that a Workspace and its LogicalCluster are told about in the same words.
func TestOf(t *testing.T) {
	deleted := metav1.Now()
	meta := metav1.ObjectMeta{DeletionTimestamp: &deleted}
	hooks := []corev1alpha1.Terminator{"root:a"}
	ws := Of(&tenancyv1alpha1.Workspace{ObjectMeta: meta, Status: tenancyv1alpha1.WorkspaceStatus{Terminators: hooks}})
	lc := OfCluster(&corev1alpha1.LogicalCluster{ObjectMeta: meta, Status: corev1alpha1.LogicalClusterStatus{Terminators: hooks}})
	for what, s := range map[string]State{"Workspace": ws, "LogicalCluster": lc} {
		if s.Phase != corev1alpha1.PhaseScheduling || !s.Ending || s.Ready() || s.Missing() != "waiting for terminator root:a" {
			t.Errorf("%s: got %+v", what, s)
		}
	}
	ready := tenancyv1alpha1.Workspace{Status: tenancyv1alpha1.WorkspaceStatus{Phase: corev1alpha1.PhaseReady}}
	if !Of(&ready).Ready() {
		t.Error("what is ready is not")
	}
	ready.DeletionTimestamp = &deleted
	if Of(&ready).Ready() {
		t.Error("what is deleted is not ready, whatever its phase says until it is written anew")
	}
}
