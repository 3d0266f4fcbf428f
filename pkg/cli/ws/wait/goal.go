package wait

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/ws/waiting"
)

// goal is what is waited for.
type goal struct {
	deleted bool
	// phase and condition are empty if they are not waited for.
	phase     corev1alpha1.Phase
	condition string
	status    corev1.ConditionStatus
}

// ready is the goal of those who say nothing else.
const ready = "ready"

// parseGoal reads ready, deleted, phase=P or condition=C[=S].
func parseGoal(s string) (goal, error) {
	what, value, _ := strings.Cut(s, "=")
	switch {
	case strings.EqualFold(s, ready):
		return goal{phase: corev1alpha1.PhaseReady}, nil
	case strings.EqualFold(s, "deleted"), strings.EqualFold(s, "delete"):
		return goal{deleted: true}, nil
	case what == "phase":
		return parsePhase(value)
	case what == "condition":
		return parseCondition(value)
	default:
		return goal{}, fmt.Errorf("--for %q is none of ready, deleted, phase=PHASE, condition=TYPE[=STATUS]", s)
	}
}

func parsePhase(value string) (goal, error) {
	phases := corev1alpha1.Phases()
	i := slices.IndexFunc(phases, func(p corev1alpha1.Phase) bool { return strings.EqualFold(string(p), value) })
	if i < 0 {
		names := make([]string, 0, len(phases))
		for _, p := range phases {
			names = append(names, string(p))
		}
		return goal{}, fmt.Errorf("--for: unknown phase %q, known are %s", value, strings.Join(names, ", "))
	}
	return goal{phase: phases[i]}, nil
}

func parseCondition(value string) (goal, error) {
	name, status, given := strings.Cut(value, "=")
	if name == "" {
		return goal{}, fmt.Errorf("--for condition= needs the type of a condition")
	}
	if !given {
		return goal{condition: name, status: corev1.ConditionTrue}, nil
	}
	for _, known := range []corev1.ConditionStatus{corev1.ConditionTrue, corev1.ConditionFalse, corev1.ConditionUnknown} {
		if strings.EqualFold(string(known), status) {
			return goal{condition: name, status: known}, nil
		}
	}
	return goal{}, fmt.Errorf("--for: a condition is True, False or Unknown, not %q", status)
}

// String says what is so when the goal is reached.
func (g goal) String() string {
	switch {
	case g.deleted:
		return "deleted"
	case g.condition != "":
		return fmt.Sprintf("%s=%s", g.condition, g.status)
	case g.phase == corev1alpha1.PhaseReady:
		return ready
	default:
		return "in phase " + string(g.phase)
	}
}

// reached says whether a workspace is where it should be. s is nil if it is not there.
func (g goal) reached(s *waiting.State) bool {
	switch {
	case s == nil || g.deleted:
		return s == nil && g.deleted
	case g.condition != "":
		return g.statusOf(s) == string(g.status)
	case g.phase == corev1alpha1.PhaseReady:
		return s.Ready()
	default:
		return s.Phase == g.phase
	}
}

// missing says what keeps a workspace that is there from where it should be.
func (g goal) missing(s waiting.State) string {
	switch {
	case g.condition != "":
		return fmt.Sprintf("%s is %s", g.condition, g.statusOf(&s))
	case g.deleted && !s.Ending:
		return "nobody has deleted it, it is " + string(s.Phase)
	case g.deleted, g.phase == corev1alpha1.PhaseReady:
		return s.Missing()
	default:
		return fmt.Sprintf("it is %s, %s", s.Phase, s.Missing())
	}
}

func (g goal) statusOf(s *waiting.State) string {
	for _, c := range s.Conditions {
		if strings.EqualFold(string(c.Type), g.condition) {
			return string(c.Status)
		}
	}
	return "not there"
}
