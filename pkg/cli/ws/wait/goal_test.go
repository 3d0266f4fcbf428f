package wait

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/ws/waiting"
)

func TestGoals(t *testing.T) {
	ready := &waiting.State{Phase: corev1alpha1.PhaseReady, Conditions: conditions.Conditions{{Type: "WorkspaceScheduled", Status: corev1.ConditionTrue}}}
	initializing := &waiting.State{Phase: corev1alpha1.PhaseInitializing, Initializers: []string{"root:a:b"}}
	ending := &waiting.State{Phase: corev1alpha1.PhaseTerminating, Ending: true, Terminators: []string{"root:a:b"}}
	cases := map[string]struct {
		reason  string
		goal    string
		state   *waiting.State
		reached bool
		missing string
	}{
		"Ready":          {"what is ready is ready", "ready", ready, true, ""},
		"NotReady":       {"an initializer is left", "ready", initializing, false, "waiting for initializer root:a:b"},
		"NotThere":       {"what is not there is not ready", "ready", nil, false, ""},
		"Gone":           {"but gone", "deleted", nil, true, ""},
		"Ending":         {"what is going is not gone", "deleted", ending, false, "waiting for terminator root:a:b"},
		"NobodyDeletes":  {"what nobody deletes stays", "deleted", ready, false, "nobody has deleted it, it is Ready"},
		"Phase":          {"phases have no case", "phase=initializing", initializing, true, ""},
		"OtherPhase":     {"another one is told", "phase=Ready", initializing, false, "waiting for initializer root:a:b"},
		"Terminating":    {"every phase can be waited for", "phase=Terminating", initializing, false, "it is Initializing, waiting for initializer root:a:b"},
		"Condition":      {"True is what is meant", "condition=workspacescheduled", ready, true, ""},
		"ConditionFalse": {"unless something else is said", "condition=WorkspaceScheduled=false", ready, false, "WorkspaceScheduled is True"},
		"NoCondition":    {"a condition may be missing", "condition=Other", ready, false, "Other is not there"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			g, err := parseGoal(tc.goal)
			if err != nil {
				t.Fatal(err)
			}
			if got := g.reached(tc.state); got != tc.reached {
				t.Errorf("%s: reached is %v", tc.reason, got)
			}
			if tc.state == nil || tc.reached {
				return
			}
			if got := g.missing(*tc.state); got != tc.missing {
				t.Errorf("%s: %q is missing, want %q", tc.reason, got, tc.missing)
			}
		})
	}
	for _, bad := range []string{"", "dinner", "phase=", "condition=", "condition=A=B"} {
		if _, err := parseGoal(bad); err == nil {
			t.Errorf("%q is no goal", bad)
		}
	}
}
