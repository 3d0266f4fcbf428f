package source

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/display"
	"github.com/forkless/kcp/pkg/cli/tui/model"
	"github.com/forkless/kcp/pkg/cli/ws/path"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// ItemOf returns what the tree shows of a workspace in parent.
func ItemOf(parent logicalcluster.Path, ws *tenancyv1alpha1.Workspace) model.Item {
	item := model.Item{
		Name:    ws.Name,
		Type:    typeOf(ws.Spec.Type),
		Phase:   string(ws.Status.Phase),
		Created: ws.CreationTimestamp.Time,
		Cluster: ws.Spec.Cluster,
	}
	if ws.DeletionTimestamp != nil {
		item.Phase = string(corev1alpha1.PhaseTerminating)
	}
	item.Path, item.Away = placeOf(parent, ws)
	if mount := ws.Spec.Mount; mount != nil {
		item.Mount = display.Line(mount.Reference.Kind + "/" + mount.Reference.Name)
	}
	item.Reason, item.Since = stateOf(ws)
	return item
}

// placeOf returns where the workspace is, and whether nobody can go there.
func placeOf(parent logicalcluster.Path, ws *tenancyv1alpha1.Workspace) (p logicalcluster.Path, away bool) {
	_, there, ok := path.SplitURL(ws.Spec.URL)
	switch {
	case ws.Spec.Mount != nil:
		// A mount is reached by its own path. What it leads to is no workspace if its
		// address has none.
		return parent.Join(ws.Name), !ok
	case ok && !isAbove(there, parent):
		return there, false
	default:
		return logicalcluster.Path{}, true
	}
}

// isAbove says whether p is other or above it: a URL that leads back up would make the
// tree endless.
func isAbove(p, other logicalcluster.Path) bool {
	for {
		if p == other {
			return true
		}
		parent, ok := other.Parent()
		if !ok {
			return false
		}
		other = parent
	}
}

// typeOf returns a type as people write it.
func typeOf(ref *tenancyv1alpha1.WorkspaceTypeReference) string {
	switch {
	case ref == nil:
		return ""
	case ref.Path == "":
		return display.Line(ref.Name)
	default:
		return display.Line(ref.Path + ":" + ref.Name)
	}
}

// stateOf says what a workspace waits for, and since when it is in its phase.
func stateOf(ws *tenancyv1alpha1.Workspace) (reason string, since time.Time) {
	worst := problem(ws.Status.Conditions)
	switch {
	case ws.DeletionTimestamp != nil:
		reason, since = waiting(ws.Status.Terminators), ws.DeletionTimestamp.Time
	case ws.Status.Phase == corev1alpha1.PhaseReady:
		return "", time.Time{}
	case ws.Status.Phase == corev1alpha1.PhaseInitializing:
		reason, since = waiting(ws.Status.Initializers), ws.CreationTimestamp.Time
	case ws.Status.Phase == corev1alpha1.PhaseUnavailable && worst != nil:
		since = worst.LastTransitionTime.Time
	default:
		since = ws.CreationTimestamp.Time
	}
	if reason == "" && worst != nil {
		reason = display.Line(worst.Message)
	}
	return reason, since
}

// waiting names who is waited for.
func waiting[T ~string](names []T) string {
	if len(names) == 0 {
		return ""
	}
	words := make([]string, len(names))
	for i, name := range names {
		words[i] = string(name)
	}
	return display.Line("waiting for " + strings.Join(words, ", "))
}

// problem returns the condition that says the most about what is wrong, nil if none does.
func problem(all conditions.Conditions) *conditions.Condition {
	var found *conditions.Condition
	for i := range all {
		c := &all[i]
		if c.Status != corev1.ConditionFalse || c.Message == "" {
			continue
		}
		// Ready sums up the others, so it is for those who have nothing else to say.
		if found == nil || found.Type == conditions.Ready {
			found = c
		}
	}
	return found
}

// conditionsOf returns conditions as they are shown, Ready last: the others say why.
func conditionsOf(all conditions.Conditions) []model.Condition {
	shown := make([]model.Condition, 0, len(all))
	for i := range all {
		c := &all[i]
		shown = append(shown, model.Condition{
			State: conditionState(c), Name: display.Line(string(c.Type)),
			Message: display.Line(c.Message), Since: c.LastTransitionTime.Time,
		})
	}
	return shown
}

func conditionState(c *conditions.Condition) model.State {
	switch {
	case c.Status == corev1.ConditionTrue:
		return model.OK
	case c.Status != corev1.ConditionFalse:
		return model.Unknown
	case c.Severity == conditions.SeverityInfo, c.Severity == conditions.SeverityWarning:
		return model.Waiting
	default:
		return model.Failed
	}
}
