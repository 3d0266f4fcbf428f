package conditions

import (
	corev1 "k8s.io/api/core/v1"
)

// Summarize sets Ready from the conditions of the given types, or from all others
// if none are given. The worst one decides and lends its reason and message: False
// before Unknown before True, and among those that are False, Error before Warning
// before Info. Of equals the first in the list of conditions wins. A type that is
// given but has no condition counts as Unknown. An object without any condition is
// left as it is.
func Summarize(to Setter, types ...Type) {
	worst, found := Condition{}, false
	for _, c := range summarized(to, types) {
		if !found || rank(c) < rank(worst) {
			worst, found = c, true
		}
	}
	if !found {
		return
	}
	Set(to, Condition{
		Type:     Ready,
		Status:   worst.Status,
		Severity: worst.Severity,
		Reason:   worst.Reason,
		Message:  worst.Message,
	})
}

func summarized(from Getter, types []Type) []Condition {
	var all []Condition
	if len(types) == 0 {
		for _, c := range from.GetConditions() {
			if c.Type != Ready {
				all = append(all, c)
			}
		}
		return all
	}
	if len(from.GetConditions()) == 0 {
		return nil
	}
	for _, t := range types {
		c, ok := Get(from, t)
		if !ok {
			c = Condition{
				Type:    t,
				Status:  corev1.ConditionUnknown,
				Reason:  "ConditionMissing",
				Message: "Condition " + string(t) + " is not known yet.",
			}
		}
		all = append(all, c)
	}
	return all
}

// rank orders conditions from the worst to the best.
func rank(c Condition) int {
	switch c.Status {
	case corev1.ConditionFalse:
		switch c.Severity {
		case SeverityError:
			return 0
		case SeverityWarning:
			return 1
		default:
			return 2
		}
	case corev1.ConditionTrue:
		return 4
	default:
		return 3
	}
}
