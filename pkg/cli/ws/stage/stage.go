// Package stage says in a few words how far a workspace is in its life, and what it waits
// for. It is pure: all it looks at is the Workspace.
package stage

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/display"
)

// Stage is how far a workspace is.
type Stage struct {
	// Phase of the workspace; of one that is being deleted, one of those that mean that.
	Phase string
	// Since is when it began to wait for what it waits for, zero if that is not known.
	Since time.Time
	// Reason says what it waits for, "" for nothing.
	Reason string
}

// Of returns the stage of ws.
func Of(ws *tenancyv1alpha1.Workspace) Stage {
	s := Stage{Phase: phaseOf(ws), Since: ws.CreationTimestamp.Time}
	if s.Settled() {
		return s
	}
	if ws.DeletionTimestamp != nil {
		s.Since = ws.DeletionTimestamp.Time
	}
	s.Reason = waitingFor(ws, &s)
	return s
}

// phaseOf returns the phase. That of a workspace lags behind its deletion a little.
func phaseOf(ws *tenancyv1alpha1.Workspace) string {
	phase := cmp.Or(ws.Status.Phase, corev1alpha1.PhaseScheduling)
	if ws.DeletionTimestamp != nil && phase != corev1alpha1.PhaseDeleting {
		phase = corev1alpha1.PhaseTerminating
	}
	return string(phase)
}

// waitingFor returns what keeps ws where it is. Names of initializers and terminators say
// more than the conditions that count them.
func waitingFor(ws *tenancyv1alpha1.Workspace, s *Stage) string {
	condition, ok := blocker(ws)
	if ok && !condition.since.IsZero() {
		s.Since = condition.since
	}
	switch {
	case ws.DeletionTimestamp == nil && len(ws.Status.Initializers) > 0:
		return "waiting for " + join(ws.Status.Initializers)
	case ws.DeletionTimestamp != nil && s.Phase == string(corev1alpha1.PhaseTerminating) && len(ws.Status.Terminators) > 0:
		return "waiting for " + join(ws.Status.Terminators)
	default:
		return display.Line(condition.text)
	}
}

// blocked is a condition that is not as it should be.
type blocked struct {
	text  string
	since time.Time
}

// blocker returns the condition of ws that says what keeps it. The one that sums up the
// others is only as good as its message.
func blocker(ws *tenancyv1alpha1.Workspace) (found blocked, ok bool) {
	for _, c := range ws.Status.Conditions {
		if c.Status == corev1.ConditionTrue {
			continue
		}
		if !ok || found.text == "" || strings.HasPrefix(string(c.Type), tenancyv1alpha1.WorkspaceConditionPrefix) {
			found, ok = blocked{text: cmp.Or(c.Message, c.Reason), since: c.LastTransitionTime.Time}, true
		}
	}
	return found, ok
}

func join[S ~string](list []S) string {
	parts := make([]string, 0, len(list))
	for _, s := range list {
		parts = append(parts, string(s))
	}
	return strings.Join(parts, ", ")
}

// Settled says whether the workspace waits for nothing.
func (s Stage) Settled() bool { return s.Phase == string(corev1alpha1.PhaseReady) }

// Short returns the phase and, if the workspace waits, for how long it has.
func (s Stage) Short(now time.Time) string {
	if s.Settled() || s.Since.IsZero() {
		return s.Phase
	}
	return fmt.Sprintf("%s %s", s.Phase, Age(now.Sub(s.Since)))
}

// Long returns Short and what the workspace waits for.
func (s Stage) Long(now time.Time) string {
	if s.Reason == "" {
		return s.Short(now)
	}
	return s.Short(now) + ": " + s.Reason
}

// Role returns how the stage stands out.
func (s Stage) Role() display.Role {
	switch corev1alpha1.Phase(s.Phase) {
	case corev1alpha1.PhaseReady:
		return display.OK
	case corev1alpha1.PhaseUnavailable, corev1alpha1.PhaseInactive:
		return display.Failed
	case corev1alpha1.PhaseTerminating, corev1alpha1.PhaseDeleting:
		return display.Warning
	default:
		return display.Waiting
	}
}

// Age returns d in its biggest unit: 8s, 5m, 3h, 12d.
func Age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", max(0, int(d.Seconds())))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	default:
		return fmt.Sprintf("%dd", int(d.Hours()/24))
	}
}

// Type returns what ws is: the name of its type, or what it is mounted from.
func Type(ws *tenancyv1alpha1.Workspace) string {
	switch {
	case ws.Spec.Mount != nil:
		ref := ws.Spec.Mount.Reference
		return strings.Trim(ref.Kind+"/"+ref.Name, "/")
	case ws.Spec.Type != nil:
		return ws.Spec.Type.Name
	default:
		return ""
	}
}
