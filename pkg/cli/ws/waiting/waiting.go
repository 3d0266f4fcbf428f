// Package waiting says how far a workspace is, and what it waits for, in the words in
// which commands tell it. All of it is in the status of the Workspace or, for those that
// have none above them, of the LogicalCluster, but for the Names of what is waited for.
package waiting

import (
	"cmp"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

// State is how far a workspace is.
type State struct {
	// Phase it is in.
	Phase corev1alpha1.Phase
	// Ending says that it is being deleted.
	Ending bool
	// Initializers and Terminators are those that have not finished yet.
	Initializers, Terminators []string
	// Conditions say more.
	Conditions conditions.Conditions
}

// Of returns the state of a Workspace.
func Of(ws *tenancyv1alpha1.Workspace) State {
	return State{
		Phase:        cmp.Or(ws.Status.Phase, corev1alpha1.PhaseScheduling),
		Ending:       ws.DeletionTimestamp != nil,
		Initializers: names(ws.Status.Initializers),
		Terminators:  names(ws.Status.Terminators),
		Conditions:   ws.Status.Conditions,
	}
}

// OfCluster returns the state of a LogicalCluster.
func OfCluster(lc *corev1alpha1.LogicalCluster) State {
	return State{
		Phase:        cmp.Or(lc.Status.Phase, corev1alpha1.PhaseScheduling),
		Ending:       lc.DeletionTimestamp != nil,
		Initializers: names(lc.Status.Initializers),
		Terminators:  names(lc.Status.Terminators),
		Conditions:   lc.Status.Conditions,
	}
}

func names[S ~string](list []S) []string {
	var all []string
	for _, s := range list {
		all = append(all, string(s))
	}
	return all
}

// Ready says whether the workspace can be used.
func (s State) Ready() bool { return s.Phase == corev1alpha1.PhaseReady && !s.Ending }

// Missing says what keeps the workspace from being ready or, if it is being deleted, from
// being gone.
func (s State) Missing() string {
	if s.Ending {
		return s.holds()
	}
	if len(s.Initializers) > 0 {
		return "waiting for " + counted("initializer", s.Initializers)
	}
	for _, c := range s.Conditions {
		if c.Status == corev1.ConditionFalse {
			return fmt.Sprintf("%s is false: %s", c.Type, cmp.Or(c.Message, c.Reason, "no reason given"))
		}
	}
	return "waiting in phase " + string(s.Phase)
}

// Line says how far the workspace is, for those who watch: the phase and, behind a comma,
// what it waits for. initializers is how many there were at the beginning.
func (s State) Line(initializers int) string {
	line := string(s.Phase)
	switch done := initializers - len(s.Initializers); {
	case s.Ending:
		return line + ", " + s.holds()
	case s.Ready():
		return line
	case len(s.Initializers) == 0:
		if missing := s.Missing(); !strings.HasPrefix(missing, "waiting in phase") {
			return line + ", " + missing
		}
		return line
	case done > 0:
		return fmt.Sprintf("%s, %d of %d initializers done, waiting for %s", line, done, initializers, strings.Join(s.Initializers, ", "))
	default:
		return line + ", waiting for " + strings.Join(s.Initializers, ", ")
	}
}

// counted returns the names behind what they are, in the singular or the plural.
func counted(what string, list []string) string {
	if len(list) > 1 {
		what += "s"
	}
	return what + " " + strings.Join(list, ", ")
}
