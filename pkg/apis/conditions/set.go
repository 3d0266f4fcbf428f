package conditions

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// timeResolution is what the JSON form of a time keeps. Finer times would differ
// from themselves after one trip through the API.
const timeResolution = time.Second

// Set makes condition the one of its type. What does not go with its status is
// dropped (see the package comment). If the state is new, the transition time is
// that of condition, or now if it has none; otherwise the old one is kept.
func Set(to Setter, condition Condition) {
	condition = normalized(condition)

	old := to.GetConditions()
	i := slices.IndexFunc(old, func(c Condition) bool { return c.Type == condition.Type })
	if i >= 0 && sameState(old[i], condition) {
		return
	}

	conditions := make(Conditions, 0, len(old)+1)
	for _, c := range old {
		if c.Type != condition.Type {
			conditions = append(conditions, c)
		}
	}
	conditions = append(conditions, condition)
	slices.SortStableFunc(conditions, compare)
	to.SetConditions(conditions)
}

// MarkTrue sets the condition of type t to True.
func MarkTrue(to Setter, t Type) {
	Set(to, Condition{Type: t, Status: corev1.ConditionTrue})
}

// MarkFalse sets the condition of type t to False. The message is made with
// fmt.Sprintf; it must be the same as long as nothing changes, so no times in it
// and no unsorted lists.
func MarkFalse(to Setter, t Type, reason string, severity Severity, format string, args ...any) {
	Set(to, Condition{
		Type:     t,
		Status:   corev1.ConditionFalse,
		Severity: severity,
		Reason:   reason,
		Message:  fmt.Sprintf(format, args...),
	})
}

// MarkUnknown sets the condition of type t to Unknown, with a message as MarkFalse
// makes it.
func MarkUnknown(to Setter, t Type, reason, format string, args ...any) {
	Set(to, Condition{
		Type:    t,
		Status:  corev1.ConditionUnknown,
		Reason:  reason,
		Message: fmt.Sprintf(format, args...),
	})
}

// Delete removes the condition of type t, if there is one.
func Delete(from Setter, t Type) {
	old := from.GetConditions()
	if !Has(from, t) {
		return
	}
	from.SetConditions(slices.DeleteFunc(slices.Clone(old), func(c Condition) bool { return c.Type == t }))
}

func normalized(c Condition) Condition {
	switch c.Status {
	case corev1.ConditionTrue:
		c.Reason, c.Message, c.Severity = "", "", SeverityNone
	case corev1.ConditionFalse:
	default:
		c.Severity = SeverityNone
	}
	if c.LastTransitionTime.IsZero() {
		c.LastTransitionTime = metav1.Now()
	}
	c.LastTransitionTime.Time = c.LastTransitionTime.UTC().Truncate(timeResolution)
	return c
}

func compare(a, b Condition) int {
	switch {
	case a.Type == b.Type:
		return 0
	case a.Type == Ready:
		return -1
	case b.Type == Ready:
		return 1
	default:
		return strings.Compare(string(a.Type), string(b.Type))
	}
}
